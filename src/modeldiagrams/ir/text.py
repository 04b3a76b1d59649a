"""Removes characters from a model's names, messages and output that pages, terminals or JSON can't contain."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["ANSI", "UNREADABLE", "escape_controls", "escape_surrogates", "readable"]

ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
"""Colours and other commands for terminals."""

UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
"""Control characters (invalid in HTML), lone surrogates (invalid in UTF-8), and overrides of the text's direction.

The same set as in ``viewer/src/shared/text.ts``.
"""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def readable(text: str) -> str:
    r"""Text for logs and terminals: no colours, and unreadable characters as Python writes them (``\x07``)."""
    return UNREADABLE.sub(_escape, ANSI.sub("", text))


def escape_surrogates(value: Any) -> Any:
    """Escape lone surrogates in plain data (dicts, lists, scalars), so that UTF-8 can encode it."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub(_escape, value)
    if isinstance(value, dict):
        return {escape_surrogates(key): escape_surrogates(item) for key, item in value.items()}
    return [escape_surrogates(item) for item in value] if isinstance(value, list | tuple) else value


def escape_controls(json: bytes) -> bytes:
    r"""Escape characters in JSON that control terminals or reorder lines, such as ``\u009b``.

    JSON itself only escapes characters below the space.
    """
    if json.isascii() and b"\x7f" not in json:
        return json
    return UNREADABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.decode()).encode()


def _escape(character: re.Match[str]) -> str:
    return character[0].encode("unicode_escape").decode()
