"""Parses a module's ``extra_repr``: ``in_features=768, bias=True`` → ``{"in_features": 768, "bias": True}``.

Not with `ast.parse`, because many aren't valid Python: ``size=7x7``, ``act=<function relu>``, one entry per line.
"""

from __future__ import annotations

import ast
import functools
import re
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.torch_facts.functions import to_plain_data, without_addresses

if TYPE_CHECKING:
    from torch import nn

_OPENING, _CLOSING, _QUOTES = "([{<", ")]}>", "'\""
_LONGEST = 100_000
"""Most characters to read."""
_SIZE = re.compile(r"torch\.Size\((\[.*\])\)")


def read_attributes(module: nn.Module) -> dict[str, Any]:
    """Parse the ``extra_repr`` of a module; empty if it raises or isn't text."""
    try:
        text: Any = module.extra_repr()
    except Exception:  # noqa: BLE001 (user code)
        return {}
    return parse_extra_repr(without_addresses(text[:_LONGEST])) if isinstance(text, str) else {}


@functools.lru_cache(maxsize=4096)
def parse_extra_repr(text: str) -> dict[str, Any]:
    """Split at top-level commas and newlines; entries without a name are numbered.

    Values that aren't Python literals stay text. The result is cached: do not modify it.
    """
    found: dict[str, Any] = {}
    position = 0
    for part in _split(text):
        name, equals, value = part.partition("=")
        if equals and name.strip().isidentifier():
            found[name.strip()] = _literal(value.strip())
        else:
            found[str(position)] = _literal(part)
            position += 1
    return found


def _split(text: str) -> list[str]:
    parts, start, depth, quote = [], 0, 0, ""
    for at, char in enumerate(text):
        if quote or char in _QUOTES:
            quote = "" if char == quote else quote or char
        else:
            depth += (char in _OPENING) - (char in _CLOSING)
        if char in ",\n" and depth <= 0 and not quote:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def _literal(text: str) -> Any:
    try:
        return to_plain_data(ast.literal_eval(_SIZE.sub(r"\1", text)))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return to_plain_data(text)
