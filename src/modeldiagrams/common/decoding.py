"""Types that several threads decode."""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_LOCK = threading.Lock()
_LEARNT: set[Any] = set()


def decodable(kind: type[T]) -> type[T]:
    """The same type, safe to be decoded by several threads.

    msgspec shows other threads what it learns of a class before it has learnt all (seen in 0.22), so two threads
    that decode a class for the first time at once end the process. This lets it learn in one thread.
    """
    if kind not in _LEARNT:
        with _LOCK:
            msgspec.json.Decoder(kind)
        _LEARNT.add(kind)
    return kind
