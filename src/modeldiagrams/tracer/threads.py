"""Recording what runs on threads that the model starts, and in jobs that it gives to pools of threads.

Torch's modes hold on the thread that entered them. So for the time of a trace, a thread that a recorded thread starts
enters them before it runs, and so does every job of a `concurrent.futures.ThreadPoolExecutor` or a
`multiprocessing.pool.ThreadPool`, whoever made the pool. Threads that others start are left alone.
"""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.here import Here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.tracer.recorder import Recorder

__all__ = ["followed"]

_POOLS = ("concurrent.futures.thread", "multiprocessing.pool")
_RUN = "run"
_TASKS = "_guarded_task_generation"
_OWN_FRAMES = 3
"""`_Branches.new` and who calls it are this package's, seen from `SourceFinder.here`."""


@contextlib.contextmanager
def followed(recorder: Recorder) -> Iterator[None]:
    """Follow the recorded threads onto those they start, and put everything back."""
    branches = _Branches(recorder)
    replaced: list[tuple[type, str, Any]] = [
        (threading.Thread, "start", _following_start(branches, threading.Thread.start)),
        (ThreadPoolExecutor, "submit", _following_submit(branches, ThreadPoolExecutor.submit)),
        (ThreadPool, "apply_async", _following_apply(branches, ThreadPool.apply_async)),
        (ThreadPool, _TASKS, _following_tasks(branches, getattr(ThreadPool, _TASKS))),
    ]
    before = [vars(owner).get(name) for owner, name, _ in replaced]
    for owner, name, following in replaced:
        setattr(owner, name, following)
    try:
        yield
    finally:
        for (owner, name, _), original in zip(replaced, before, strict=True):
            if original is None:  # inherited
                delattr(owner, name)
            else:
                setattr(owner, name, original)


class _Branches:
    """Where the threads and jobs begin that recorded threads start."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def new(self, start: Here | None = None) -> Here | None:
        """Where one begins that is started now; None if it is not to be recorded.

        Args:
            start: From where; by default from where the running thread is.
        """
        recorder = self._recorder
        start = start or recorder.here
        if not start.is_in_the_open:
            return None
        start.branches += 1
        start.stack[-1].is_empty = False
        branch = Here(list(start.stack), strand=next(recorder.strands), array_read=start.array_read)
        branch.place = recorder.finder.here(start.stack, _OWN_FRAMES) or start.place
        births = recorder.recording.births
        births[branch.strand] = (*births.get(start.strand, ()), start.branches)
        recorder.modes_of_threads()  # get ready now, while the thread that starts it runs no op
        return branch

    @contextlib.contextmanager
    def along(self, branch: Here) -> Iterator[None]:
        """Record what the current thread does from where the branch begins."""
        recorder = self._recorder
        outer = recorder.threads.here
        recorder.threads.here = branch
        branch.is_recording = outer.is_recording
        try:
            with contextlib.nullcontext() if outer.is_recording else recorder.entered(branch):
                yield
        finally:
            recorder.threads.here = outer

    def job(self, branch: Here | None, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that records what another one does."""
        if branch is None:
            return function

        def run(*args: Any, **kwargs: Any) -> Any:
            with self.along(branch):
                return function(*args, **kwargs)

        return run


def _following_start(branches: _Branches, original: Callable[..., None]) -> Callable[..., None]:
    def start(self: threading.Thread) -> None:
        branch = None if _is_of_pool(self) or self.ident is not None else branches.new()
        if branch is not None:
            _run_along(branches, branch, self)
        original(self)

    return start


def _is_of_pool(thread: threading.Thread) -> bool:
    """Whether it waits for jobs, which are recorded one by one: whoever is free takes the next."""
    return getattr(getattr(thread, "_target", None), "__module__", "") in _POOLS


def _run_along(branches: _Branches, branch: Here, thread: threading.Thread) -> None:
    """Record what the thread is going to run; nothing of that stays with the thread."""
    own, run = vars(thread).get(_RUN), thread.run

    def run_along() -> None:
        if own is None:
            delattr(thread, _RUN)
        else:
            setattr(thread, _RUN, own)
        with branches.along(branch):
            run()

    setattr(thread, _RUN, run_along)


def _following_submit(branches: _Branches, original: Callable[..., Any]) -> Callable[..., Any]:
    def submit(self: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return original(self, branches.job(branches.new(), function), *args, **kwargs)

    return submit


def _following_apply(branches: _Branches, original: Callable[..., Any]) -> Callable[..., Any]:
    def apply_async(self: Any, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return original(self, branches.job(branches.new(), func), *args, **kwargs)

    return apply_async


def _following_tasks(branches: _Branches, original: Callable[..., Any]) -> Callable[..., Any]:
    """As `_following_submit`, for many jobs at once, which a thread of the pool asks for one by one."""

    def tasks(self: Any, *args: Any) -> Any:
        found = original(self, *args)
        whole = branches.new()
        if whole is None:
            return found
        whole.is_recording = True
        return ((number, i, branches.job(branches.new(whole), function), *rest) for number, i, function, *rest in found)

    return tasks
