"""Finds the problem of a graph, and describes problems."""

from __future__ import annotations

import bisect
import itertools
import re
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.engine.input_hints import find_input_hint
from modeldiagrams.ir.graph import OWN_FAILURE
from modeldiagrams.ir.text import readable
from modeldiagrams.worker import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.ir.graph import Graph

__all__ = ["Problem", "fold_lines", "format_problem", "make_forward_problem", "name_file"]

_NOT_CALLED = frozenset({"InputsError", "TargetError"})
"""Types of the errors of cases whose model could not be called."""
_LONGEST_MESSAGE = 600
_LONGEST_TEXT = 850
"""The maximum length of a warning, without the prefix of the documentation tool."""

_OVERLOADS = re.compile(r"(invalid combination of arguments - got .*?), but expected (one of:\n|\().*", re.DOTALL)
"""PyTorch's list of overloads; the call itself is more helpful to authors."""


def format_problem(problem: Problem) -> str:
    """Describe a problem for a log or terminal: what happened, and where in user code; keeps the last lines."""
    message = readable(problem.message.strip())
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[: _LONGEST_MESSAGE - 1]}…"
    room = _LONGEST_TEXT - len(message) - len(problem.remark)
    frames = _take_last(fold_lines(problem.frames), room)
    printed = _take_last(problem.printed, room - sum(map(len, frames)))
    lines = [message, *frames, *(["its last output:"] if printed else []), *printed, problem.remark]
    return "\n  ".join(line for text in lines for line in text.splitlines())


def fold_lines(frames: Sequence[str]) -> list[str]:
    """Fold consecutive equal frames into one with their number: an endless recursion has a thousand."""
    runs = [(frame, len([*equal])) for frame, equal in itertools.groupby(frames)]
    return [f"{frame} (×{times})" if times > 1 else frame for frame, times in runs]


def _take_last(texts: Sequence[str], room: int) -> list[str]:
    """Return as many lines from the end as fit."""
    lines = [*map(readable, texts)]
    lengths = itertools.accumulate(len(line) for line in reversed(lines))
    count = bisect.bisect_right([*lengths], room)
    return lines[len(lines) - count :]


def make_forward_problem(model: str, graph: Graph) -> Problem | None:
    """Return the problem of a graph: its model raised, or no inputs were found; of the first case that failed."""
    if not graph.cases:
        return _make_problem(model, graph)
    alone = ((case.name, msgspec.structs.replace(graph, status=case.status, cases=())) for case in graph.cases)
    failed = [(name, problem) for name, case in alone if (problem := _make_problem(model, case))]
    if not failed:
        return None
    (name, first), *others = failed
    more = (f"case {name!r}: {problem.message.splitlines()[0]}" for name, problem in others)
    return msgspec.structs.replace(first, message=f"case {name!r}: {first.message}", remark="\n".join(more))


def _make_problem(model: str, graph: Graph) -> Problem | None:
    error = graph.status.error
    if graph.status.state == "hierarchy" and graph.status.notes:
        return Problem(kind="inputs", message=graph.status.notes[0])
    if error is None:
        mistake = graph.sizes.mistake if graph.sizes else ""
        return Problem(kind="option", message=f"{model}: {mistake}") if mistake else None
    if error.type == OWN_FAILURE:
        return Problem(kind="worker", message=f"{model}: {OWN_FAILURE} {error.message}")
    if error.type in _NOT_CALLED:
        return Problem(kind="inputs", message=error.message)
    frames = tuple(f"{frame.file}:{frame.line} in {frame.function}" for frame in error.frames)
    said = _OVERLOADS.sub(r"\1", error.message).removesuffix(".")
    message = f"the forward pass of {model} raised {error.type}: {said}".removesuffix(": ") + find_input_hint(graph)
    return Problem(kind="forward", message=message, frames=frames)


def name_file(model: str, problem: Problem) -> Problem:
    """Name the model in a problem's message, unless it is about an option."""
    if problem.kind == "option" or model in problem.message:
        return problem
    return msgspec.structs.replace(problem, message=f"{model}: {problem.message}")
