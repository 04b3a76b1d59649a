"""Records threads that the model starts, and jobs that it gives to thread pools.

Torch's modes are active only on the thread that entered them. So, during a trace, a thread started by a recorded thread
enters them before it runs, and so does every job given to a `concurrent.futures.ThreadPoolExecutor`. Other threads are
left alone.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.patches.replace import replace
from modeldiagrams.tracer.recording.thread_context import ThreadContext

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator

    from modeldiagrams.tracer.recording.op_recorder import OpRecorder


def wrap_start(recorder: OpRecorder, original: Callable[..., None]) -> Callable[..., None]:
    """Wrap `threading.Thread.start`."""

    def start(self: threading.Thread) -> None:
        # a pool's thread is not recorded as a whole, because it may take jobs of others; each job is
        is_of_pool = getattr(getattr(self, "_target", None), "__module__", "") == "concurrent.futures.thread"
        context = None if is_of_pool or self.ident is not None else _new_context(recorder)
        if context is not None:
            undo, run = contextlib.ExitStack(), self.run

            def recorded_run() -> None:
                undo.close()  # the thread keeps nothing of this
                with _recording_in(recorder, context):
                    run()

            replace(undo, self, "run", recorded_run)
        original(self)

    return start


def wrap_submit(recorder: OpRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `ThreadPoolExecutor.submit`."""

    def submit(self: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        context = _new_context(recorder)
        if context is None:
            return original(self, function, *args, **kwargs)

        def job(*args: Any, **kwargs: Any) -> Any:
            with _recording_in(recorder, context):
                return function(*args, **kwargs)

        return original(self, job, *args, **kwargs)

    return submit


def _new_context(recorder: OpRecorder) -> ThreadContext | None:
    """Make the context of a thread or job that the running thread starts; None if it isn't recorded."""
    start = recorder.context
    if not start.records_ops:
        return None
    start.stack[-1].is_empty = False
    context = ThreadContext(list(start.stack), array_read=start.array_read)
    context.source = recorder.finder.current_line(start.stack) or start.source
    recorder.modes_of_threads()  # prepare now, while the starting thread runs no op
    return context


@contextlib.contextmanager
def _recording_in(recorder: OpRecorder, context: ThreadContext) -> Iterator[None]:
    """Record the running thread with this context."""
    outer = recorder.threads.context
    recorder.threads.context = context
    context.is_recording = outer.is_recording
    try:
        with contextlib.nullcontext() if outer.is_recording else recorder.record_thread(context):
            yield
    finally:
        recorder.threads.context = outer
