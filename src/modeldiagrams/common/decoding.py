"""Makes types safe to decode in several threads."""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_LOCK = threading.Lock()
_INSPECTED: set[Any] = set()


def decodable(kind: type[T]) -> type[T]:
    """Return the same type after msgspec has inspected it in one thread.

    Two threads that decode a class for the first time at once crash the process, because msgspec shares what it knows
    of a class before it is complete (seen in 0.22).
    """
    if kind not in _INSPECTED:
        with _LOCK:
            msgspec.json.Decoder(kind)
        _INSPECTED.add(kind)
    return kind
