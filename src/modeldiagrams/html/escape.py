"""Makes text of models, authors and exceptions safe in HTML."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

from modeldiagrams.ir.text import ANSI, UNREADABLE

__all__ = ["html_text"]


def html_text(value: Any) -> Markup:
    """Escape any value as HTML text or attribute value.

    Args:
        value: The value; `Markup` is already HTML and is returned unchanged.

    Returns:
        Text without markup, terminal colours, control characters, and ``//``, which privacy plugins would take for a
        URL to rewrite.
    """
    if isinstance(value, Markup):
        return value
    text = UNREADABLE.sub("\ufffd", ANSI.sub("", str(value)))
    return Markup(str(escape(text)).replace("//", "/&#47;"))  # noqa: S704  escaped right here
