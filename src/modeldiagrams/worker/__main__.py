"""The tracing process: ``python -m modeldiagrams.worker``. The only place where user code runs and V8 is started."""

from __future__ import annotations

import dataclasses
import gc
import importlib
import os
import signal
import sys
import sysconfig
import traceback
from pathlib import Path
from typing import IO, Any, NoReturn

import msgspec

import modeldiagrams
from modeldiagrams.errors import RenderError, TargetError
from modeldiagrams.options import Options
from modeldiagrams.render import render_json
from modeldiagrams.serialize import serialize
from modeldiagrams.worker.limits import data_bytes, is_out_of_memory, limited, memory_hint, tell_of_exits
from modeldiagrams.worker.origins import has_twin, libraries, public_names
from modeldiagrams.worker.protocol import (
    NO_TORCH,
    Answer,
    Drawn,
    Hello,
    Kind,
    Lasting,
    Prepare,
    Problem,
    Ready,
    Refused,
    Render,
    Request,
    Trace,
    Traced,
    receive,
    send,
)

_REQUEST: Any = Request  # a union is a type to msgspec, not to mypy

_LEAK = 10**9
"""Bytes that a process may keep from one model to the next."""

_WARM_UP = Trace(options=Options(model="torch.nn.Linear", args=[1, 1], inputs=[1, 1]), mode="auto", timeout=1, memory=1)

_leave = os._exit


def main() -> NoReturn:
    """Answer requests until the documentation process is gone."""
    log = os.dup(2)
    requests, answers = _private_pipes()
    tell_of_exits(log)
    send(answers, Hello(version=modeldiagrams.__version__, libraries=_libraries()))
    desk = _Desk(log)
    process = os.getpid()
    while True:
        try:
            request: Request = receive(requests, _REQUEST)
        except EOFError:
            _end_group()
        answer = desk.answer(request)
        if os.getpid() != process:
            # the model forked and this is its child, which came back here: its parent answers
            _leave(0)
        send(answers, answer)


def _private_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Take stdin and stdout away, so that what a model reads and prints can't reach the protocol.

    The model reads nothing and prints to where stderr goes. The duplicates are not inherited by programs it starts, and
    closed in processes it forks: who waits for an answer must see that this process has ended.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: os.dup2(0, answers.fileno()))
    return requests, answers


def _end_group() -> NoReturn:
    """The documentation process is gone, and nobody else would end what models have started."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    _leave(0)


def _libraries() -> tuple[str, ...]:
    """Folders of Python, of installed packages and of this package."""
    installed = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return (*dict.fromkeys(installed), str(Path(modeldiagrams.__file__).parent))


class _Desk:
    """Answers requests, one after the other."""

    def __init__(self, log: int) -> None:
        self._log = log
        self._own_path = list(sys.path)
        self._data = 0
        """Bytes of data this process had before the first model."""

    def answer(self, request: Request) -> Answer:
        """Whatever happens, there is an answer."""
        try:
            if isinstance(request, Trace):
                return self._trace(request)
            return self._prepare(request) if isinstance(request, Prepare) else _render(request)
        except BaseException as error:  # noqa: BLE001  (the next request must find this process alive)
            traceback.print_exc()
            what = f"{type(error).__name__}: {error}".removesuffix(": ")
            problem = Problem(kind="worker", message=f"the tracing process failed with {what}")
            return Refused(problem=problem, lasting="run")

    def _prepare(self, request: Prepare) -> Answer:
        sys.path[:] = dict.fromkeys([*request.path, *self._own_path])
        importlib.invalidate_caches()  # files may be new since the last request
        if self._data:
            return Ready()
        try:
            # importing torch takes seconds and hundreds of megabytes: not before a trace needs it; and what torch
            # imports and sets at its first trace is to be no model's doing
            _run(_WARM_UP)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            return Refused(problem=Problem(kind="worker", message=NO_TORCH))
        self._data = data_bytes() or 1
        return Ready()

    def _trace(self, request: Trace) -> Answer:
        from modeldiagrams.target import loaded_sources  # noqa: PLC0415
        from modeldiagrams.target.process import has_changed, process_state  # noqa: PLC0415
        from modeldiagrams.target.usercode import failure, loaded_files  # noqa: PLC0415

        options = request.options
        before = imported = process_state()
        try:
            with limited(request.timeout, request.memory, self._log):
                _import(request)
                imported = process_state()
                answer: Traced | Refused = _run(request)
        except BaseException as error:  # noqa: BLE001  (models raise what they like, `KeyboardInterrupt` among it)
            known = error if isinstance(error, TargetError) else failure(f"tracing {options.model}", error)
            answer = Refused(problem=_problem(known, request), sources=loaded_sources(options, error))
        after = process_state()
        lasting: Lasting = "import" if has_changed(before, imported) else "nothing"
        if has_changed(imported, after) or self._has_grown():
            lasting = "run"
        return msgspec.structs.replace(answer, loaded=loaded_files(), lasting=lasting)

    def _has_grown(self) -> bool:
        if data_bytes() - self._data > _LEAK:
            gc.collect()
        return data_bytes() - self._data > _LEAK


def _import(request: Trace) -> None:
    """Import the model's package first, to tell what that changes from what the model does."""
    from modeldiagrams.target.locate import locate  # noqa: PLC0415

    locate(request.options.model)


def _run(request: Trace) -> Traced:
    """Make the model and record its pass."""
    from modeldiagrams.target import record, resolve, seeded  # noqa: PLC0415
    from modeldiagrams.target.dependencies import dependencies  # noqa: PLC0415
    from modeldiagrams.target.process import put_on  # noqa: PLC0415

    options = request.options
    target = resolve(options)
    if request.mode == "meta":
        put_on("meta", target.model, (), options.model)  # the tracer takes the inputs there, and knows what they hold
    elif options.device:
        args, kwargs = put_on(options.device, target.model, (target.args, target.kwargs), options.model)
        target = dataclasses.replace(target, args=args, kwargs=kwargs)
    with seeded():
        trace = record(target, request.mode)
    graph = msgspec.structs.replace(trace.graph, assumptions=(*target.assumptions, *trace.graph.assumptions))
    error = graph.status.error
    if error and is_out_of_memory(f"{error.type}: {error.message}"):
        error = msgspec.structs.replace(error, message=f"{error.message} {memory_hint(request.memory)}".strip())
        graph = msgspec.structs.replace(graph, status=msgspec.structs.replace(graph.status, error=error))
    # a factory or a function that makes inputs leaves no trace in the pass itself
    named = [options.model, options.inputs_from or ""]
    sources = dependencies(target.model, named, trace.sources)
    return Traced(
        graph=serialize(graph),
        sources=sources,
        libraries=libraries(target.model, named, sources),
        names=public_names(target.model),
        has_twin=has_twin(options.model),
        tried=target.tried,
    )


def _problem(error: TargetError, request: Trace) -> Problem:
    from modeldiagrams.target import InputsError  # noqa: PLC0415

    hint = f" {memory_hint(request.memory)}" if is_out_of_memory(str(error)) else ""
    kind: Kind = "inputs" if isinstance(error, InputsError) else "model"
    return Problem(kind=kind, message=f"{error}{hint}", frames=error.frames)


def _render(request: Render) -> Answer:
    try:
        return Drawn(picture=render_json(request.graph, request.view))
    except RenderError as error:
        return Refused(problem=Problem(kind="render", message=str(error)))


if __name__ == "__main__":
    main()
