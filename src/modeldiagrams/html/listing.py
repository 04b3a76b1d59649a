"""Renders a code listing, coloured by Pygments if it is installed."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from modeldiagrams.html.escape import html_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["highlight_code", "render_listing"]


def highlight_code(text: str) -> list[str]:
    """Turn Python code into lines of HTML; themes have the style sheet."""
    if importlib.util.find_spec("pygments") is None:
        return [html_text(line) for line in text.split("\n")]
    from pygments import highlight  # type: ignore[import-untyped]  # noqa: PLC0415  (not every host installs it)
    from pygments.formatters.html import HtmlFormatter  # type: ignore[import-untyped]  # noqa: PLC0415
    from pygments.lexers.python import PythonLexer  # type: ignore[import-untyped]  # noqa: PLC0415

    html: str = highlight(text, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
    return html.removesuffix("\n").split("\n")


def render_listing(lines: Sequence[str], links: Iterable[str | None], label: str) -> str:
    """Render a listing whose lines are links.

    Args:
        lines: HTML of each line.
        links: HTML attributes of each line's link; None for a line without a link.
        label: A description for readers who can't see it.
    """
    html = [
        f'<a class="mg-line" {link}>{line}</a>' if link else f'<span class="mg-line">{line}</span>'
        for line, link in zip(lines, links, strict=True)
    ]
    # each line is a block, so line ends would be empty lines
    code = "".join(html)
    return (
        f'<div class="highlight mg-listing" role="region" aria-label="{html_text(label)}" tabindex="0">'
        f"<pre><code>{code}</code></pre></div>"
    )
