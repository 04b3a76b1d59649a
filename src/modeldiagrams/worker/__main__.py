"""The worker process: ``python -m modeldiagrams.worker``. User code runs and V8 starts only here."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import traceback
from typing import IO, Any, NoReturn

import msgspec

from modeldiagrams.common.user_files import library_folders
from modeldiagrams.common.version import own_version
from modeldiagrams.errors import RenderError
from modeldiagrams.render.draw import render_json
from modeldiagrams.render.picture_file import render_file
from modeldiagrams.worker.limits import data_bytes, log_exits
from modeldiagrams.worker.protocol import (
    NO_TORCH,
    Answer,
    Drawn,
    DrawnFile,
    Hello,
    Prepare,
    Problem,
    Ready,
    Refused,
    Render,
    RenderFile,
    Request,
    Trace,
    receive,
    send,
)

_REQUEST: Any = Request  # a union is a type to msgspec, not to mypy

_LEAK = 10**9
"""Bytes of memory a model may leave behind before the process counts as changed."""

_leave = os._exit


def main() -> NoReturn:
    """Answer requests until the documentation process is gone."""
    log = os.dup(2)
    requests, answers = _private_pipes()
    log_exits(log)
    send(answers, Hello(version=own_version(), libraries=library_folders()))
    handler = _Handler(log)
    process = os.getpid()
    while True:
        try:
            request: Request = receive(requests, _REQUEST)
        except EOFError:
            _end_group()
        answer = handler.answer(request)
        if os.getpid() != process:
            # the model forked and its child got here; the parent answers
            _leave(0)
        send(answers, answer)


def _private_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Move the protocol away from stdin and stdout, so that models can neither read it nor print into it.

    A model reads nothing, and prints to stderr. Programs that it starts do not inherit the duplicates, and processes
    that it forks close them: the other side must notice when this process ends.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: os.dup2(0, answers.fileno()))
    return requests, answers


def _end_group() -> NoReturn:
    """End all processes that models have started: the documentation process is gone and can't."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    _leave(0)


class _Handler:
    """Answers requests, one after the other. Imports torch when the first trace needs it: that takes seconds."""

    def __init__(self, log: int) -> None:
        self._log = log
        self._own_path = list(sys.path)
        self._data = 0
        """Bytes of data this process had before the first model."""

    def answer(self, request: Request) -> Answer:
        """The answer to a request; never raises, because the next request must find this process alive."""
        try:
            return self._answer(request)
        except RenderError as error:
            return Refused(problem=Problem(kind="render", message=str(error)))
        except BaseException as error:  # noqa: BLE001  (user code may raise anything)
            traceback.print_exc()
            what = f"{type(error).__name__}: {error}".removesuffix(": ")
            problem = Problem(kind="worker", message=f"the tracing process failed with {what}")
            return Refused(problem=problem, side_effects="run")

    def _answer(self, request: Request) -> Answer:
        match request:
            case Prepare():
                return self._prepare(request)
            case Trace():
                return self._trace(request)
            case Render():
                return Drawn(picture=render_json(request.graph, request.view))
            case RenderFile():
                return DrawnFile(file=render_file(request.graph, request.view, request.form, request.theme))

    def _prepare(self, request: Prepare) -> Answer:
        sys.path[:] = dict.fromkeys([*request.path, *self._own_path])
        importlib.invalidate_caches()  # files may be new since the last request
        if self._data:
            return Ready()
        try:
            from modeldiagrams.worker.tracing import warm_up  # noqa: PLC0415  (imports torch)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            return Refused(problem=Problem(kind="worker", message=NO_TORCH))
        warm_up()
        self._data = data_bytes() or 1
        return Ready()

    def _trace(self, request: Trace) -> Answer:
        from modeldiagrams.worker.tracing import trace  # noqa: PLC0415  (imports torch)

        answer = trace(request, self._log)
        return msgspec.structs.replace(answer, side_effects="run") if self._has_grown() else answer

    def _has_grown(self) -> bool:
        if data_bytes() - self._data > _LEAK:
            gc.collect()
        return data_bytes() - self._data > _LEAK


if __name__ == "__main__":
    main()
