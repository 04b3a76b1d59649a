"""Where each thread is in the pass that is being recorded."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeldiagrams.tracer.recording import Call, Op

__all__ = ["Here", "HereByThread"]


@dataclass(slots=True)
class Here:
    """Where one thread is in the pass."""

    stack: list[Call]
    is_recording: bool = False
    strand: int = 0
    paused: int = 0
    """Above 0 inside a call that is recorded as one op."""
    observed: int = 0
    """Above 0 inside a call that is being observed: operators below belong to it."""
    flops: int | None = None
    """Counted so far in the call that is being observed."""
    array_read: Op | None = None
    """The last op through which values left torch."""
    guesses: list[tuple[Any, str]] = field(default_factory=list)
    """Made in the call that is being observed."""
    place: str | None = None
    """``file:line`` in user code where the thread or job was started; None on the main thread."""
    branches: int = 0
    """How many threads and jobs were started here."""

    @property
    def is_in_the_open(self) -> bool:
        """Recorded, and not below a call that is recorded as one op."""
        return self.is_recording and not self.paused and not self.observed


class HereByThread(threading.local):
    """Where each thread is; a new one starts where the main one is."""

    def __init__(self, main_stack: list[Call]) -> None:
        """Runs on every thread that asks."""
        self.here = Here(list(main_stack))
