"""Ends a pass that takes too long, at its next call of PyTorch. Only for searches, which have other passes to make."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PassTooLongError", "check_time", "time_limited"]


class PassTooLongError(RuntimeError):
    """A pass took more processor time than a search has for it."""


_end = math.inf
"""Processor time of this process at which the running pass ends: passes run one after the other, on any thread."""


@contextmanager
def time_limited(seconds: float) -> Iterator[None]:
    """Limit the processor time of the passes in the block."""
    global _end  # noqa: PLW0603  (looked at in every call of PyTorch, also on threads of the model's)
    before, _end = _end, time.process_time() + seconds
    try:
        yield
    finally:
        _end = before


def check_time() -> None:
    """Raise if the running pass has had its time."""
    if _end < math.inf and time.process_time() > _end:
        raise PassTooLongError("this pass takes too long")
