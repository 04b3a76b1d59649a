"""Traces models one after the other in one process, on Windows and macOS, where forks are not safe.

A new process replaces it if it died, if a loaded source file was edited, or if a model had side effects. As not all
side effects are detected, a model that fails in a used process is tried again in a new one.
"""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.errors import WorkerError
from modeldiagrams.worker.process import Process, make_problem
from modeldiagrams.worker.protocol import Refused, Trace, Traced
from modeldiagrams.worker.worker import BaseWorker

__all__ = ["Reuse"]


class Reuse(BaseWorker):
    """Manages a tracing process, started when needed."""

    def __init__(self, python: str | None = None, *, gpu: bool = False) -> None:
        """Prepare; see `BaseWorker`."""
        super().__init__(python, gpu=gpu)
        self._process: Process | None = None
        self._is_used = False
        self._loaded: dict[str, object] = {}
        self._lock = threading.Lock()

    def run(self, request: Trace) -> Traced | Refused:
        """Run one model at a time."""
        with self._lock:
            if self._is_stale():
                self.close()
            was_used = self._is_used
            answer = self._attempt(request)
            if was_used and _has_failed(answer):
                self.close()
                answer = self._attempt(request)
            return answer

    def close(self) -> None:
        """End the process, and every process that a model started from it."""
        process, self._process = self._process, None
        self._loaded, self._is_used = {}, False
        if process is not None:
            process.end()

    def renew(self) -> None:
        """Replace a used process; the new one imports PyTorch in the background."""
        if self._is_used:
            self.close()
            try:
                self._start()
            except WorkerError:
                self.close()  # the error occurs again, and is reported, when a model needs the process

    def _attempt(self, request: Trace) -> Traced | Refused:
        try:
            process = self._start()
            self._is_used = True
            answer = process.trace(request)
        except WorkerError as error:
            return Refused(problem=make_problem("importing PyTorch", error), may_differ=True)
        except BaseException:
            self.close()  # the rest of an interrupted answer would be read as the next one
            raise
        if answer.has_side_effects or not process.is_usable():
            self.close()
        self._loaded |= {file: _stamp(file) for file in answer.loaded}
        return answer

    def _start(self) -> Process:
        if self._process is None:
            self._process = Process.spawn("trace", self._python, gpu=self._gpu)
        return self._process

    def _is_stale(self) -> bool:
        """Whether the process has ended, or has modules from before an edit."""
        if self._process is not None and not self._process.is_usable():
            return True
        return any(_stamp(file) != stamp for file, stamp in self._loaded.items())


class _Outcome(msgspec.Struct):
    """The part of a graph that tells whether the pass is complete."""

    status: _Status


class _Status(msgspec.Struct):
    state: str


def _has_failed(answer: Traced | Refused) -> bool:
    return (
        isinstance(answer, Refused)
        or msgspec.json.decode(answer.graph, type=decodable(_Outcome)).status.state != "complete"
    )


def _stamp(file: str) -> object:
    """Return a value that changes with the file."""
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
