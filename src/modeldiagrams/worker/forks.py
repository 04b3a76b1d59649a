"""Traces every model in a process of its own, a fork of one that has imported PyTorch. Only on Linux."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.errors import WorkerError
from modeldiagrams.options.options import package_of
from modeldiagrams.worker.process import SETUP_SECONDS, START_SECONDS, Process, worker_problem
from modeldiagrams.worker.protocol import Problem, Refused, Trace, Traced, receive, send
from modeldiagrams.worker.template import ask_for_fork

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Forks"]

_EXIT_SECONDS = 5.0
"""For a template to end itself."""

_TRIES = 2
"""To start a template: one that ran may have been killed since."""

_TRACED: Any = Traced | Refused  # a union is a type to msgspec, not to mypy


class Forks:
    """A template, started when it is needed. Several threads may use it, and forks of this process."""

    def __init__(self, python: str | None, *, gpu: bool) -> None:
        """Start nothing yet; see `Worker`."""
        self._python = python
        self._gpu = gpu
        self._template: Process | None = None
        self._control: socket.socket | None = None
        self._lock = threading.Lock()
        self._imported: dict[str, tuple[str, ...]] = {}
        """Package → modules of libraries that its import loads."""

    def trace(self, request: Trace) -> Traced | Refused:
        """Run a model."""
        package = package_of(request.call.model)
        try:
            with self._fork(self._imported.get(package, ())) as conversation:
                answer = _converse(conversation, request)
        except WorkerError as error:
            return Refused(problem=worker_problem("importing PyTorch", error), may_differ=True)
        self._imported.setdefault(package, answer.imported)
        return answer

    def close(self) -> None:
        """End the template, and with it all that it started."""
        template, control = self._template, self._control
        self._template = self._control = None
        if control is not None:
            control.close()
        if template is not None:
            template.end(_EXIT_SECONDS)

    def renew(self) -> None:
        """Nothing to do: no model was ever in the template."""

    def _fork(self, modules: Sequence[str]) -> socket.socket:
        """Connected to the guard of a new fork."""
        with self._lock:
            for _ in range(_TRIES):
                control = self._running()
                try:
                    return ask_for_fork(control, modules)
                except OSError:  # somebody has killed the template
                    self.close()
        raise WorkerError(f"failed: the process that does it was killed {_TRIES} times")

    def _running(self) -> socket.socket:
        """The control socket of the template, which is started if there is none."""
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


def _converse(conversation: socket.socket, request: Trace) -> Traced | Refused:
    # the guard keeps the model's limits; this one is for the guard
    conversation.settimeout(START_SECONDS + 2 * SETUP_SECONDS + request.limits.seconds)
    try:
        with conversation.makefile("rwb") as file:  # whose end fails, too, if the guard has not read the request
            send(file, request)
            answer: Traced | Refused = receive(file, _TRACED)
    except (EOFError, OSError, msgspec.DecodeError):
        message = f"{request.doing} ended the process that guards it"
        return Refused(problem=Problem(kind="worker", message=message), may_differ=True)
    return answer
