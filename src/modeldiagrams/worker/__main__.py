"""The tracing process: ``python -m modeldiagrams.worker``. The only place where user code runs and V8 is started."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from typing import IO, Any, NoReturn

import msgspec

from modeldiagrams.errors import RenderError, TargetError
from modeldiagrams.render import render_json
from modeldiagrams.serialize import serialize
from modeldiagrams.worker.protocol import Answer, Drawn, Problem, Refused, Render, Request, Trace, Traced, receive, send

_REQUEST: Any = Request  # a union is a type to msgspec, not to mypy


def main() -> NoReturn:
    """Answer requests until the documentation process is gone."""
    requests, answers = _private_pipes()
    process = os.getpid()
    while True:
        try:
            request: Request = receive(requests, _REQUEST)
        except EOFError:
            _leave()
        answer = _answer(request)
        if os.getpid() != process:
            # the model forked and this is its child, which came back here: its parent answers
            _leave()
        send(answers, answer)


def _private_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Take stdin and stdout away, so that what a model reads and prints can't reach the protocol.

    The model reads nothing and prints to where stderr goes. The duplicates are not inherited by programs it starts.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, answers


def _leave() -> NoReturn:
    """End at once, whatever threads and exit handlers a model has left behind."""
    os._exit(0)


def _answer(request: Request) -> Answer:
    try:
        return _trace(request) if isinstance(request, Trace) else _render(request)
    except BaseException as error:  # noqa: BLE001  (the next request must find this process alive)
        traceback.print_exc()
        what = f"{type(error).__name__}: {error}".removesuffix(": ")
        return Refused(problem=Problem(kind="worker", message=f"The tracing process failed with {what}"))


def _render(request: Render) -> Answer:
    try:
        return Drawn(picture=render_json(request.graph, request.view))
    except RenderError as error:
        return Refused(problem=Problem(kind="render", message=str(error)))


def _trace(request: Trace) -> Answer:
    sys.path[:] = request.path
    importlib.invalidate_caches()  # files may be new since the last request
    # importing torch takes seconds and hundreds of megabytes: not before a trace needs it
    from modeldiagrams.target import InputsError, loaded_sources, resolve, seeded  # noqa: PLC0415
    from modeldiagrams.tracer import trace_run  # noqa: PLC0415

    try:
        target = resolve(request.options)
    except TargetError as error:
        problem = Problem(
            kind="inputs" if isinstance(error, InputsError) else "model", message=str(error), frames=error.frames
        )
        return Refused(problem=problem, sources=loaded_sources(request.options))
    with seeded():
        trace = trace_run(target.model, target.args, target.kwargs, mode=request.mode)
    graph = msgspec.structs.replace(trace.graph, assumptions=(*target.assumptions, *trace.graph.assumptions))
    # a factory or a function that makes inputs leaves no trace in the pass itself
    sources = {*trace.sources, *loaded_sources(request.options)}
    return Traced(graph=serialize(graph), sources=tuple(sorted(sources)))


if __name__ == "__main__":
    main()
