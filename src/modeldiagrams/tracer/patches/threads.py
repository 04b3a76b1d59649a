"""Recording what runs on threads that the model starts, and in jobs that it gives to pools of threads.

Torch's modes hold on the thread that entered them. So for the time of a trace, a thread that a recorded thread starts
enters them before it runs, and so does every job of a `concurrent.futures.ThreadPoolExecutor`, whoever made the pool.
Threads that others start are left alone.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.patches.replace import replace
from modeldiagrams.tracer.recording.thread_context import ThreadContext

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator

    from modeldiagrams.tracer.recording.recorder import Recorder


def recorded_start(recorder: Recorder, original: Callable[..., None]) -> Callable[..., None]:
    """`threading.Thread.start`."""

    def start(self: threading.Thread) -> None:
        # threads of executors wait for jobs, which are recorded one by one: whichever is free takes the next
        is_of_pool = getattr(getattr(self, "_target", None), "__module__", "") == "concurrent.futures.thread"
        context = None if is_of_pool or self.ident is not None else _new_context(recorder)
        if context is not None:
            undo, run = contextlib.ExitStack(), self.run

            def recorded_run() -> None:
                undo.close()  # nothing of this stays with the thread
                with _recording_in(recorder, context):
                    run()

            replace(undo, self, "run", recorded_run)
        original(self)

    return start


def recorded_submit(recorder: Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """`ThreadPoolExecutor.submit`."""

    def submit(self: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        context = _new_context(recorder)
        if context is None:
            return original(self, function, *args, **kwargs)

        def job(*args: Any, **kwargs: Any) -> Any:
            with _recording_in(recorder, context):
                return function(*args, **kwargs)

        return original(self, job, *args, **kwargs)

    return submit


def _new_context(recorder: Recorder) -> ThreadContext | None:
    """The context of a thread or job that the running one starts; None if not recorded."""
    start = recorder.context
    if not start.records_ops:
        return None
    start.stack[-1].is_empty = False
    context = ThreadContext(list(start.stack), array_read=start.array_read)
    context.source = recorder.finder.current_line(start.stack) or start.source
    recorder.modes_of_threads()  # get ready now, while the thread that starts it runs no op
    return context


@contextlib.contextmanager
def _recording_in(recorder: Recorder, context: ThreadContext) -> Iterator[None]:
    """Record what the running thread does in a context."""
    outer = recorder.threads.context
    recorder.threads.context = context
    context.is_recording = outer.is_recording
    try:
        with contextlib.nullcontext() if outer.is_recording else recorder.entered(context):
            yield
    finally:
        recorder.threads.context = outer
