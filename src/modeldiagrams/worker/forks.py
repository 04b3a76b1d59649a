"""Traces every model in its own fork of a process that has imported PyTorch. Only on Linux."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.errors import WorkerError
from modeldiagrams.worker.process import SETUP_SECONDS, START_SECONDS, Process, make_problem
from modeldiagrams.worker.protocol import ModelAnswer, ModelRequest, Problem, Refused, TraceRequest, receive, send
from modeldiagrams.worker.template import ask_for_fork
from modeldiagrams.worker.worker import BaseWorker

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Forks"]

_EXIT_SECONDS = 5.0
"""Seconds for a template to end itself."""

_TRIES = 2
"""How often to start a template, which may have been killed meanwhile."""

_ANSWER: Any = ModelAnswer  # a union is a type to msgspec, not to mypy


class Forks(BaseWorker):
    """Manages a template, started when needed. Several threads and forks of this process may use it."""

    def __init__(self, python: str | None = None, *, gpu: bool = False) -> None:
        """Prepare; see `BaseWorker`."""
        super().__init__(python, gpu=gpu)
        self._template: Process | None = None
        self._control: socket.socket | None = None
        self._lock = threading.Lock()
        self._imported: dict[str, tuple[str, ...]] = {}
        """Library modules that the import of each package loads."""

    def run(self, request: ModelRequest) -> ModelAnswer:
        """Run a model in a new fork."""
        package = request.packages[0]
        try:
            with self._fork(self._imported.get(package, ())) as conversation:
                answer = _converse(conversation, request)
        except WorkerError as error:
            return Refused(problem=make_problem("importing PyTorch", error), may_differ=True)
        if isinstance(request, TraceRequest):
            self._imported.setdefault(package, answer.imported)
        return answer

    def close(self) -> None:
        """End the template and everything it started."""
        template, control = self._template, self._control
        self._template = self._control = None
        if control is not None:
            control.close()
        if template is not None:
            template.end(_EXIT_SECONDS)

    def renew(self) -> None:
        """Do nothing, because models never run in the template."""

    def _fork(self, modules: Sequence[str]) -> socket.socket:
        """Fork a guard, and return a connection to it."""
        with self._lock:
            for _ in range(_TRIES):
                control = self._running()
                try:
                    return ask_for_fork(control, modules)
                except OSError:  # the template was killed
                    self.close()
        raise WorkerError(f"failed: the process that does it was killed {_TRIES} times")

    def _running(self) -> socket.socket:
        """Start the template if needed, and return its control socket."""
        if self._control is None:
            self._control, inherited = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                with inherited:
                    files = [inherited.fileno()]
                    self._template = Process.spawn("template", self._python, gpu=self._gpu, inherited=files)
            except BaseException:
                self.close()
                raise
        return self._control


def _converse(conversation: socket.socket, request: ModelRequest) -> ModelAnswer:
    # the guard applies the model's limits; this limit is for the guard
    conversation.settimeout(START_SECONDS + 2 * SETUP_SECONDS + request.limits.seconds)
    try:
        with conversation.makefile("rwb") as file:  # closing also fails if the guard has not read the request
            send(file, request)
            answer: ModelAnswer = receive(file, _ANSWER)
    except (EOFError, OSError, msgspec.DecodeError):
        message = f"{request.doing} ended the process that guards it"
        return Refused(problem=Problem(kind="worker", message=message), may_differ=True)
    return answer
