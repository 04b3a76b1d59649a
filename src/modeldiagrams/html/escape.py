"""Makes text of models, authors and exceptions safe in HTML."""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup, escape

__all__ = ["html_text"]

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
# HTML forbids control characters, UTF-8 lone surrogates; direction overrides reorder what follows. The same set as in
# viewer/src/shared/text.ts
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


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
    text = _UNREADABLE.sub("\ufffd", _ANSI.sub("", str(value)))
    return Markup(str(escape(text)).replace("//", "/&#47;"))  # noqa: S704  escaped right here
