"""Which recorded calls no longer work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.errors import GraphError
from modeldiagrams.ir.graph import STALE
from modeldiagrams.ir.serialize import deserialize
from modeldiagrams.options.options import Call, Options
from modeldiagrams.record.calls import read_calls
from modeldiagrams.worker import Refused, Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["stale_calls"]


def stale_calls(file: Path) -> Iterator[str]:
    """Run every call of a file; yields a line for each that fails: the class, where the call was seen, and why."""
    with Worker() as worker:
        for name, call in read_calls(file).items():
            if call.graph:
                if not (file.parent / call.graph).is_file():
                    yield f"{name}: the graph of the call in {call.seen}, {call.graph}, is missing"
                continue
            options = Options(call=Call(model=name, recorded={name: call}))
            answer = worker.trace(options, [file.parent, Path.cwd()])
            if isinstance(answer, Refused):
                yield f"{name}: the call in {call.seen} fails now ({answer.problem.message})"
            else:
                try:
                    graph = deserialize(answer.graph)
                except GraphError as error:
                    yield f"{name}: the call in {call.seen} gave an invalid graph ({error})"
                else:
                    yield from (f"{name}: {item.reason}" for item in graph.assumptions if item.value == STALE)
