"""The state of each thread during a pass."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.values.scopes import Scopes

if TYPE_CHECKING:
    from modeldiagrams.tracer.values.pass_records import ModuleCall, Op


@dataclass(slots=True)
class ThreadContext:
    """The state of one thread."""

    stack: list[ModuleCall]
    scopes: Scopes = field(default_factory=Scopes)
    """The functions running in the innermost module call."""
    is_recording: bool = False
    on_main_thread: bool = False
    paused: int = 0
    """Above 0 inside `OpRecorder.hide_ops`, where module calls are recorded but ops are not."""
    observed: int = 0
    """Above 0 while `OpRecorder.observe` runs a call, to which all operators inside belong."""
    in_nested: bool = False
    """Whether a nested tensor runs operators on the tensors inside of it."""
    flops: int | None = None
    """FLOPs counted so far in the observed call."""
    array_read: Op | None = None
    """The last op that passed values to Python or numpy."""
    guesses: list[tuple[Any, str]] = field(default_factory=list)
    """Values assumed during the observed call, with reasons."""
    source: str | None = None
    """``file:line`` in user code that started the thread or job; None on the main thread."""

    @property
    def records_ops(self) -> bool:
        """Whether ops that run now are recorded."""
        return self.is_recording and not self.paused and not self.observed


class ThreadContexts(threading.local):
    """The context of the running thread. A new thread starts inside the main thread's module calls."""

    def __init__(self, main_stack: list[ModuleCall]) -> None:
        """Make a context for the running thread; `threading.local` calls this once on each."""
        self.context = ThreadContext(list(main_stack))
