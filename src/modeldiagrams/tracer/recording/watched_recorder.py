"""An `OpRecorder` that pauses the observer of the model's code while torch and the tracer run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.recording.op_recorder import OpRecorder
from modeldiagrams.tracer.ways.observer import ignore_event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modeldiagrams.tracer.ways.observer import TraceObserver


class WatchedRecorder(OpRecorder):
    """Needed where observing slows down all code that runs."""

    def __init__(self, watch: TraceObserver, *rest: Any) -> None:
        """Do what `OpRecorder` does; pause `watch` in between."""
        super().__init__(*rest)
        self.watch = watch

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        watch: Any = self.watch
        watched = sys.gettrace() is ignore_event
        if watched:
            sys.settrace(None)
        try:
            return super().__torch_function__(func, types, args, kwargs)
        finally:
            if watch.pending is not None:
                watch.raise_pending()
            if watched and sys.gettrace() is None:
                watch.resume(*watch.resumed)
