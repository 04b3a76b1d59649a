"""Traces models one after the other in one process, where a fork is not safe: on Windows and macOS.

A new process replaces it after it died, after an edit of a source file it had loaded, and after a model whose side
effects were noticed. As not all are, a model that fails in a used process is tried again in a new one.
"""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.errors import WorkerError
from modeldiagrams.worker.process import Process, worker_problem
from modeldiagrams.worker.protocol import Refused, Trace, Traced

__all__ = ["Reuse"]


class Reuse:
    """A tracing process, started when it is needed."""

    def __init__(self, python: str | None, *, gpu: bool) -> None:
        """Start nothing yet; see `Worker`."""
        self._python = python
        self._gpu = gpu
        self._process: Process | None = None
        self._is_used = False
        self._loaded: dict[str, object] = {}
        self._lock = threading.Lock()

    def trace(self, request: Trace) -> Traced | Refused:
        """Run a model, and no other at the same time."""
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
        """Replace a used process; the new one imports PyTorch while nobody waits for it."""
        if self._is_used:
            self.close()
            try:
                self._start()
            except WorkerError:
                self.close()  # the error comes again, and is reported, when a model needs the process

    def _attempt(self, request: Trace) -> Traced | Refused:
        try:
            process = self._start()
            self._is_used = True
            answer = process.trace(request)
        except WorkerError as error:
            return Refused(problem=worker_problem("importing PyTorch", error), may_differ=True)
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
        """Whether the process is gone, or has modules as they were before an edit."""
        if self._process is not None and not self._process.is_usable():
            return True
        return any(_stamp(file) != stamp for file, stamp in self._loaded.items())


class _Outcome(msgspec.Struct):
    """What of a graph says whether the pass came to its end."""

    status: _Status


class _Status(msgspec.Struct):
    state: str


def _has_failed(answer: Traced | Refused) -> bool:
    if isinstance(answer, Refused) or not answer.graph:  # an image has none
        return isinstance(answer, Refused)
    return msgspec.json.decode(answer.graph, type=decodable(_Outcome)).status.state != "complete"


def _stamp(file: str) -> object:
    """Changes when the file does."""
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
