"""Which recorded calls no longer work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.ir.graph import STALE
from modeldiagrams.ir.serialize import deserialize
from modeldiagrams.options.options import Call, Options
from modeldiagrams.record.calls import read_calls
from modeldiagrams.worker import Refused, Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.options.call import RecordedCall

__all__ = ["stale_calls"]


def stale_calls(file: Path) -> Iterator[str]:
    """Run every call of a file of calls.

    Args:
        file: The file.

    Yields:
        A line for each call that fails: the class, where the call was seen, and why.
    """
    with Worker() as worker:
        for name, call in read_calls(file).items():
            if reason := _failure(worker, name, call, file.parent):
                yield f"{name}: {reason}"


def _failure(worker: Worker, name: str, call: RecordedCall, folder: Path) -> str | None:
    if call.graph:
        is_there = (folder / call.graph).is_file()
        return None if is_there else f"the graph of the call in {call.seen}, {call.graph}, is missing"
    options = Options(call=Call(model=name, recorded={name: call}))
    answer = worker.trace(options, [folder, Path.cwd()])
    if isinstance(answer, Refused):
        return f"the call in {call.seen} fails now ({answer.problem.message})"
    assumptions = deserialize(answer.graph).assumptions
    return next((item.reason for item in assumptions if item.value == STALE), None)
