"""The code of parts of diagrams: a fence leaves its place, which is filled once all diagrams of the page are known."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.listing import forward_of
from modeldiagrams.html.escape import html_text
from modeldiagrams.markdown.find_fences import SOURCE_FENCE

if TYPE_CHECKING:
    from modeldiagrams.markdown.host import FenceHost

__all__ = ["place_of_listing", "with_listings"]

_PLACE = re.compile(r'<div class="mg-source" data-of="([^"]*)" data-line="(\d*)"></div>')


def place_of_listing(target: str, line: int | None) -> str:
    """Where the code of a part is to stand; `line` is that of its fence."""
    return f'<div class="mg-source" data-of="{html_text(target)}" data-line="{line or ""}"></div>'


def with_listings(text: str, host: FenceHost) -> str:
    """A page's HTML with the code that its fences ask for.

    Args:
        text: HTML.
        host: Knows the diagrams that the page shows.
    """

    def listed(match: re.Match[str]) -> str:
        try:
            return forward_of(host.on_page, html.unescape(match[1])).html
        except ModelDiagramsError as error:
            host.warn(f"{SOURCE_FENCE}: {error}", int(match[2]) if match[2] else None)
            return ""

    return _PLACE.sub(listed, text)
