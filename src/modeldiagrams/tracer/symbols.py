"""Names of sizes that are no numbers, such as the length of a nested tensor's rows.

Torch numbers these through the life of the process (``j7``). Here every trace begins anew, or else the second one of a
model would not give the same bytes as the first.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.internals import nested_tensors_as_new

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["fresh_symbols", "symbol"]

_RAGGED = re.compile(r"j\d+")
_names: dict[str, str] = {}
"""Torch's name → ours, of the trace that is under way."""


@contextlib.contextmanager
def fresh_symbols() -> Iterator[None]:
    """Begin with the first name; the forward of one traced model may trace another."""
    outer = _names.copy()
    _names.clear()
    try:
        with nested_tensors_as_new():
            yield
    finally:
        _names.clear()
        _names.update(outer)


def symbol(size: Any) -> str:
    """The name of a symbolic size."""
    return _RAGGED.sub(lambda found: _names.setdefault(found[0], f"j{len(_names)}"), str(size))
