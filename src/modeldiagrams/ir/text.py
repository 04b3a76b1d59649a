"""Text of models: names, messages and output may hold characters that no page, terminal or JSON file may."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["ANSI", "UNREADABLE", "escaped", "printable", "readable"]

ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
"""Colours and other commands for terminals."""

UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
"""HTML forbids control characters, UTF-8 lone surrogates; direction overrides reorder what follows. The same set as in
``viewer/src/shared/text.ts``."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def readable(text: str) -> str:
    r"""Text for logs and terminals: no colours, and unreadable characters as Python writes them (``\x07``)."""
    return UNREADABLE.sub(_escape, ANSI.sub("", text))


def escaped(value: Any) -> Any:
    """Plain data, of dicts, lists and scalars, that UTF-8 can encode: lone surrogates as Python writes them."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub(_escape, value)
    if isinstance(value, dict):
        return {escaped(key): escaped(item) for key, item in value.items()}
    return [escaped(item) for item in value] if isinstance(value, list | tuple) else value


def printable(json: bytes) -> bytes:
    r"""The same JSON without characters that command terminals or reorder lines: ``\u009b`` in their place.

    JSON itself escapes only what is below the space.
    """
    if json.isascii() and b"\x7f" not in json:
        return json
    return UNREADABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.decode()).encode()


def _escape(character: re.Match[str]) -> str:
    return character[0].encode("unicode_escape").decode()
