"""Answers requests in a process, and traces models. Imports torch only for a model."""

from __future__ import annotations

import contextlib
import importlib
import os
import queue
import signal
import sys
import threading
import traceback
from typing import IO, TYPE_CHECKING, Any, NoReturn

from modeldiagrams.common.user_files import list_library_folders
from modeldiagrams.common.version import read_version
from modeldiagrams.errors import RenderError
from modeldiagrams.worker.limits import log_exits
from modeldiagrams.worker.protocol import (
    NO_TORCH,
    Answer,
    Hello,
    ListModels,
    ModelRequest,
    Prepare,
    Problem,
    Ready,
    Refused,
    Request,
    TraceRequest,
    receive,
    send,
)
from modeldiagrams.worker.read_files import note_reads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["answer_requests", "get_ready", "trace_models"]

_REQUEST: Any = Request  # a union is a type to msgspec, not to mypy

_leave, _process_id = os._exit, os.getpid
"""Saved before a model can replace them."""


def answer_requests(answer: Callable[[Request, int], Answer], prepare: Callable[[], None] | None = None) -> NoReturn:
    """Answer requests until the other side ends.

    Args:
        answer: Answers a request; the second argument is a file descriptor for stacks.
        prepare: Called before the first request, in a process without a guard, which then notices the end of the other
            side itself, even while it answers.
    """
    log = os.dup(2)
    requests, answers = _open_private_pipes()
    log_exits(log)
    send(answers, Hello(version=read_version(), libraries=list_library_folders()))
    if prepare:
        prepare()
    process = _process_id()
    for request in _read_ahead(requests) if prepare else _read(requests):
        reply = _answer(answer, request, log)
        if _process_id() != process:
            # a child that the model forked; its parent answers
            _leave(0)
        send(answers, reply)
    _leave(0)


def _read(requests: IO[bytes]) -> Iterator[Request]:
    with contextlib.suppress(EOFError):
        while True:
            yield receive(requests, _REQUEST)
    _end_group()


def _read_ahead(requests: IO[bytes]) -> Iterator[Request]:
    """Yield requests that a thread reads."""
    waiting: queue.SimpleQueue[Request] = queue.SimpleQueue()

    def read() -> None:
        for request in _read(requests):
            waiting.put(request)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield waiting.get()


def _answer(answer: Callable[[Request, int], Answer], request: Request, log: int) -> Answer:
    """Answer a request without ever raising, because the other side waits."""
    try:
        return answer(request, log)
    except RenderError as error:
        return Refused(problem=Problem(kind="render", message=str(error)))
    except BaseException as error:  # noqa: BLE001  (user code may raise anything)
        traceback.print_exc()
        doing = request.doing if isinstance(request, ModelRequest) else "the process"
        what = f"{type(error).__name__}: {error}".removesuffix(": ")
        return Refused(problem=Problem(kind="worker", message=f"{doing} failed with {what}"))


def _open_private_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Move the protocol away from stdin and stdout, so that models can neither read it nor print to it.

    A model has no input, and prints to stderr. Programs that it starts don't inherit the duplicates, and processes that
    it forks close them, so that the other side notices when this process ends.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: os.dup2(0, answers.fileno()))
    return requests, answers


def _end_group() -> NoReturn:
    """End all processes that models started, because the documentation process has ended."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    _leave(0)


def get_ready() -> None:
    """Import everything a trace needs, which takes seconds. Starts no threads, because this process may fork.

    Without torch, nothing happens: another folder may have it, or else the first model gets the error.
    """
    try:
        from modeldiagrams.worker.tracing import warm_up  # noqa: PLC0415  (imports torch)
    except ImportError:
        return
    warm_up()


def trace_models(prepare: Callable[[], None] | None = None) -> NoReturn:
    """Answer requests for traces; see `answer_requests`."""
    own_path = list(sys.path)
    note_reads()

    def answer(request: Request, log: int) -> Answer:
        if isinstance(request, TraceRequest):
            from modeldiagrams.worker.tracing import trace  # noqa: PLC0415  (imports torch)

            return trace(request, log)
        if isinstance(request, ListModels):
            from modeldiagrams.worker.tracing import list_models  # noqa: PLC0415  (imports torch)

            return list_models(request, log)
        if isinstance(request, Prepare):
            return _prepare(request, own_path)
        raise TypeError(f"expected a model to trace, got {request!r}")

    answer_requests(answer, prepare)


def _prepare(request: Prepare, own_path: list[str]) -> Answer:
    sys.path[:] = dict.fromkeys([*request.path, *own_path])
    importlib.invalidate_caches()  # files may be new since the last request
    try:
        import modeldiagrams.worker.tracing  # noqa: F401, PLC0415  (imports torch)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return Refused(problem=Problem(kind="worker", message=NO_TORCH))
    return Ready()
