"""Class mentions become links through mkdocs-autorefs, which knows mkdocstrings and other projects' inventories."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from modeldiagrams.host import link_names
from modeldiagrams.markup import html_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["mention", "with_known_names"]

_MENTION = re.compile(r'<autoref identifier="([^"]*)" data-model-graph optional>')


def mention(class_name: str, text: str) -> str:
    """A class as autorefs resolves it; ``optional``, so that an undocumented class is no warning."""
    return f'<autoref identifier="{html_text(class_name)}" data-model-graph optional>{text}</autoref>'


def with_known_names(page: str, is_known: Callable[[str], bool]) -> str:
    """Replace classes' full names by those they are documented under.

    Args:
        page: HTML of a page that autorefs has not seen yet.
        is_known: Whether autorefs can resolve a name; all pages and inventories must be loaded by now.
    """

    def documented(match: re.Match[str]) -> str:
        names = link_names(html.unescape(match[1]))
        name = next((name for name in names if is_known(name)), names[0])
        return f'<autoref identifier="{html_text(name)}" optional>'

    return _MENTION.sub(documented, page)
