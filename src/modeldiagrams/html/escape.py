"""Makes text of models, authors and exceptions safe in HTML."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

from modeldiagrams.ir.text import ANSI, UNREADABLE

__all__ = ["html_text"]


def html_text(value: Any) -> Markup:
    """Any value as HTML text or attribute value.

    Args:
        value: What to show; `Markup` is HTML already and stays as it is.

    Returns:
        Escaped text: no markup, no terminal colours, no control characters, and no ``//`` that a privacy plugin
        would take for a URL to rewrite.
    """
    if isinstance(value, Markup):
        return value
    text = UNREADABLE.sub("\ufffd", ANSI.sub("", str(value)))
    return Markup(str(escape(text)).replace("//", "/&#47;"))  # noqa: S704  escaped right here
