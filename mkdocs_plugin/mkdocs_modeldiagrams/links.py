"""Class mentions become links through mkdocs-autorefs, which knows mkdocstrings and other projects' inventories."""

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

__all__ = ["Addresses", "mention", "with_ids_once", "with_known_names"]

_MENTION = re.compile(r'<autoref identifier="[^"]*" data-model-graph="([^"]*)" optional>(.*?)</autoref>', re.DOTALL)

_FIGURE = re.compile(r'(<figure class="mg-figure[^"]*")( id="[^"]*")(>)')


def mention(names: Sequence[str], text: str) -> str:
    """A placeholder that `with_known_names` replaces; ``optional``, so that an undocumented class is no warning.

    autorefs understands it, too: other plugins keep parts of pages and resolve them on their own.

    Args:
        names: Those it may be documented under, most exact first.
        text: HTML to be the link.
    """
    known = f'identifier="{html_text(names[0])}" data-model-graph="{html_text(" ".join(names))}"'
    return f"<autoref {known} optional>{text}</autoref>"


class Addresses:
    """Where classes are documented, for the links of one page."""

    def __init__(self, autorefs: Any, page: str) -> None:
        """Look nothing up yet.

        Args:
            autorefs: The plugin; all pages and inventories must be loaded by now.
            page: URL of the page.
        """
        self._autorefs = autorefs
        self._log = get_plugin_logger(type(autorefs).__module__).logger
        self._page = page

    def find(self, name: str) -> tuple[str, bool] | None:
        """The URL, relative to the page, and whether it is the only one; None for what is documented nowhere."""
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
    """Drops autorefs' warning that a name is documented several times, and remembers that there was one."""

    was_found = False

    def filter(self, record: logging.LogRecord) -> bool:
        self.was_found |= record.levelno >= logging.WARNING
        return record.levelno < logging.WARNING


def with_known_names(page: str, addresses: Addresses) -> str:
    """Let mentions of classes refer to the names they are documented under.

    We add these links, not the author, so a class that is documented several times is no warning: the link leads where
    autorefs would have led it.

    Args:
        page: HTML of a page that autorefs has not seen yet.
        addresses: What autorefs can resolve there.
    """

    def documented(match: re.Match[str]) -> str:
        names = html.unescape(match[1]).split()
        found = [(name, address) for name in names if (address := addresses.find(name))]
        name, (url, is_only) = found[0] if found else (names[0], ("", True))
        if is_only:
            return f'<autoref identifier="{html_text(name)}" optional>{match[2]}</autoref>'
        return f'<a class="autorefs autorefs-internal" href="{html_text(url)}">{match[2]}</a>'

    return _MENTION.sub(documented, page)


def with_ids_once(page: str) -> str:
    """The HTML of a page without ids of figures that something else has: mkdocstrings' headings name classes alike."""
    figures = Counter(found[2] for found in _FIGURE.finditer(page))
    taken = {attribute for attribute, count in figures.items() if page.count(attribute) > count}
    return _FIGURE.sub(lambda found: f"{found[1]}{found[3]}" if found[2] in taken else found[0], page)
