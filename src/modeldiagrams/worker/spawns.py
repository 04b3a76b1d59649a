"""Traces every model in its own new interpreter, for Windows and macOS, where forks of PyTorch are not safe."""

from __future__ import annotations

from modeldiagrams.errors import WorkerError
from modeldiagrams.worker.process import Process, make_problem
from modeldiagrams.worker.protocol import ModelAnswer, ModelRequest, Refused
from modeldiagrams.worker.worker import BaseWorker

__all__ = ["Spawns"]


class Spawns(BaseWorker):
    """Starts a process for each model. Several threads may use it."""

    def __init__(self, python: str | None = None, *, gpu: bool = False) -> None:
        """Prepare; see `BaseWorker`."""
        super().__init__(python, gpu=gpu)
        self._ready: list[Process] = []
        """At most one, which imports PyTorch before a model needs it."""
        self._running: set[Process] = set()
        self._has_run = False

    def run(self, request: ModelRequest) -> ModelAnswer:
        """Run a model in a process that ends with it."""
        self._has_run = True
        try:
            process = self._take()
        except WorkerError as error:
            return Refused(problem=make_problem("importing PyTorch", error), may_differ=True)
        self._running.add(process)
        try:
            return process.run(request)
        finally:
            process.end()
            self._running.discard(process)

    def close(self) -> None:
        """End all processes, and every process that a model started from them."""
        for process in (*self._ready, *self._running):
            process.end()
        self._ready.clear()

    def renew(self) -> None:
        """Start the next process, if models run at all."""
        if self._has_run and not self._ready:
            try:
                self._ready.append(self._spawn())
            except WorkerError:
                return  # the error occurs again, and is reported, when a model needs the process

    def _take(self) -> Process:
        """Return the process that is ready, or a new one."""
        try:
            ready = self._ready.pop()
        except IndexError:  # none, or another thread was faster
            return self._spawn()
        if ready.is_usable():
            return ready
        ready.end()
        return self._spawn()

    def _spawn(self) -> Process:
        return Process.spawn("trace", self._python, gpu=self._gpu)
