"""Class mentions become links through mkdocs-autorefs, which knows mkdocstrings and other projects' inventories."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from modeldiagrams.markup import html_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["mention", "with_known_names"]

_MENTION = re.compile(r'<autoref data-model-graph="([^"]*)" optional>')


def mention(names: Sequence[str], text: str) -> str:
    """A class that `with_known_names` settles; ``optional``, so that an undocumented class is no warning.

    Args:
        names: Those it may be documented under, most exact first.
        text: HTML to be the link.
    """
    return f'<autoref data-model-graph="{html_text(" ".join(names))}" optional>{text}</autoref>'


def with_known_names(page: str, is_known: Callable[[str], bool]) -> str:
    """Let mentions of classes refer to the names they are documented under.

    Args:
        page: HTML of a page that autorefs has not seen yet.
        is_known: Whether autorefs can resolve a name; all pages and inventories must be loaded by now.
    """

    def documented(match: re.Match[str]) -> str:
        names = html.unescape(match[1]).split()
        name = next((name for name in names if is_known(name)), names[0])
        return f'<autoref identifier="{html_text(name)}" optional>'

    return _MENTION.sub(documented, page)
