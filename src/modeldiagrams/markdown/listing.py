"""Lists the code of modules: fences leave placeholders, which are filled when all diagrams of the page are known."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.listing import find_forward
from modeldiagrams.html.escape import html_text
from modeldiagrams.markdown.find_fences import SOURCE_FENCE

if TYPE_CHECKING:
    from modeldiagrams.markdown.host import FenceHost

__all__ = ["fill_listings", "render_placeholder"]

_PLACEHOLDER = re.compile(r'<div class="mg-source" data-of="([^"]*)" data-line="(\d*)"></div>')


def render_placeholder(target: str, line: int | None) -> str:
    """Render a placeholder for the code of a module; `line` is the line of its fence."""
    return f'<div class="mg-source" data-of="{html_text(target)}" data-line="{line or ""}"></div>'


def fill_listings(text: str, host: FenceHost) -> str:
    """Replace the placeholders in a page's HTML by code.

    Args:
        text: The HTML.
        host: The host, with the diagrams of the page.
    """

    def fill(match: re.Match[str]) -> str:
        try:
            return find_forward(host.on_page, html.unescape(match[1])).html
        except ModelDiagramsError as error:
            host.warn(f"{SOURCE_FENCE}: {error}", int(match[2]) if match[2] else None)
            return ""

    return _PLACEHOLDER.sub(fill, text)
