"""Links class names through mkdocs-autorefs, which knows mkdocstrings and inventories of other projects."""

from __future__ import annotations

import html
import logging
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from mkdocs.plugins import get_plugin_logger

from modeldiagrams.html.escape import html_text

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Addresses", "remove_duplicate_ids", "render_placeholder", "resolve_names"]

_MENTION = re.compile(r'<autoref identifier="[^"]*" data-model-graph="([^"]*)" optional>(.*?)</autoref>', re.DOTALL)

_FIGURE = re.compile(r'(<figure class="mg-figure[^"]*")( id="[^"]*")(>)')


def render_placeholder(names: Sequence[str], text: str) -> str:
    """Render a placeholder for `resolve_names`; ``optional`` avoids warnings for undocumented classes.

    autorefs understands it too, because other plugins keep parts of pages and resolve them themselves.

    Args:
        names: Names under which it may be documented, the most exact first.
        text: The HTML of the link.
    """
    known = f'identifier="{html_text(names[0])}" data-model-graph="{html_text(" ".join(names))}"'
    return f"<autoref {known} optional>{text}</autoref>"


class Addresses:
    """Finds where classes are documented, for the links of one page."""

    def __init__(self, autorefs: Any, page: str) -> None:
        """Prepare for a page.

        Args:
            autorefs: The plugin, which must have loaded all pages and inventories.
            page: The URL of the page.
        """
        self._autorefs = autorefs
        self._log = get_plugin_logger(type(autorefs).__module__).logger
        self._page = page

    def find(self, name: str) -> tuple[str, bool] | None:
        """Return the URL relative to the page, and whether it is the only one; None if the name isn't documented."""
        ambiguity = _AmbiguityFilter()
        self._log.addFilter(ambiguity)
        try:
            found = self._autorefs.get_item_url(name, from_url=self._page)
        except KeyError:
            return None
        finally:
            self._log.removeFilter(ambiguity)
        url = found if isinstance(found, str) else found[0]  # newer versions also return a title
        return url, not ambiguity.was_found


class _AmbiguityFilter(logging.Filter):
    """Suppresses autorefs' warning about names documented several times, and remembers it."""

    was_found = False

    def filter(self, record: logging.LogRecord) -> bool:
        self.was_found |= record.levelno >= logging.WARNING
        return record.levelno < logging.WARNING


def resolve_names(page: str, addresses: Addresses) -> str:
    """Replace the placeholders of classes by links to the names they are documented under.

    Authors didn't write these links, so a class that is documented several times gives no warning, and the link leads
    where autorefs would lead it.

    Args:
        page: The HTML of a page, before autorefs.
        addresses: The addresses that autorefs can resolve.
    """

    def documented(match: re.Match[str]) -> str:
        names = html.unescape(match[1]).split()
        found = [(name, address) for name in names if (address := addresses.find(name))]
        name, (url, is_only) = found[0] if found else (names[0], ("", True))
        if is_only:
            return f'<autoref identifier="{html_text(name)}" optional>{match[2]}</autoref>'
        return f'<a class="autorefs autorefs-internal" href="{html_text(url)}">{match[2]}</a>'

    return _MENTION.sub(documented, page)


def remove_duplicate_ids(page: str) -> str:
    """Remove ids of figures that other elements have too: mkdocstrings' headings have the names of classes."""
    figures = Counter(found[2] for found in _FIGURE.finditer(page))
    taken = {attribute for attribute, count in figures.items() if page.count(attribute) > count}
    return _FIGURE.sub(lambda found: f"{found[1]}{found[3]}" if found[2] in taken else found[0], page)
