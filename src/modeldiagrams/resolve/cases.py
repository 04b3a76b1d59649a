"""Traces the cases of a model in one process, and unites their graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from modeldiagrams.errors import TargetError
from modeldiagrams.ir.cases import unite_cases
from modeldiagrams.ir.graph import Failure, Graph, Status
from modeldiagrams.options.cases import GENERATE
from modeldiagrams.resolve import Target, record, resolve, seeded
from modeldiagrams.resolve.generation import find_generation_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from modeldiagrams.options.options import Call
    from modeldiagrams.resolve.strategies.requests import Built
    from modeldiagrams.tracer import Mode, Trace

__all__ = ["TracedCases", "in_one_mode", "trace_cases"]

T = TypeVar("T")


@dataclass(frozen=True)
class TracedCases:
    """The graph of all cases, and what their passes used."""

    graph: Graph
    sources: tuple[str, ...]
    targets: tuple[Target, ...]
    """Those that could be called."""


class _Case(NamedTuple):
    name: str
    text: str
    call: Call
    found: Target | TargetError


def trace_cases(call: Call, device: str | None, prepare: Callable[[Target], Target]) -> TracedCases:
    """Trace every case of a call, all in one mode if they can be.

    Args:
        call: What the author wrote.
        device: As in `resolve`.
        prepare: Moves a target to where it runs.

    Raises:
        TargetError: if none can be called.
    """
    cases: list[_Case] = []
    runs: dict[str, tuple[Mode, Callable[[Mode], Trace]]] = {}
    for case in _list_generation(call, device) if call.cases == GENERATE else _list_written(call, device):
        found = case.found
        if isinstance(found, Target):
            found = prepare(found)
            runs[case.name] = case.call.mode or "auto", partial(_record, found, case.call)
        cases.append(case._replace(found=found))
    if not runs:
        raise next(case.found for case in cases if isinstance(case.found, TargetError))
    traces = in_one_mode(runs, lambda trace: trace.graph.status)
    like = next(iter(traces.values())).graph
    graphs = {
        case.name: _with_assumptions(traces[case.name].graph, case.found)
        if isinstance(case.found, Target)
        else _fail(case.found, like)
        for case in cases
    }
    return TracedCases(
        unite_cases(graphs, {case.name: case.text for case in cases}),
        tuple(dict.fromkeys(file for trace in traces.values() for file in trace.sources)),
        tuple(case.found for case in cases if isinstance(case.found, Target)),
    )


def in_one_mode(runs: Mapping[str, tuple[Mode, Callable[[Mode], T]]], status_of: Callable[[T], Status]) -> dict[str, T]:
    """Run cases; if some of them need real values, give them to the others, too, where these run with them.

    A model may look at values only if there are some, so its ways would differ for that reason.

    Args:
        runs: Name of a case → its mode, and what traces it in a mode.
        status_of: The status of what a run returns.
    """
    found = {name: run(mode) for name, (mode, run) in runs.items()}
    statuses = {name: status_of(traced) for name, traced in found.items()}
    if {status.mode for status in statuses.values() if status.state == "complete"} > {"real"}:
        for name, (mode, run) in runs.items():
            if mode == "auto" and statuses[name].mode != "real":
                traced = run("real")
                found[name] = traced if status_of(traced).state == "complete" else found[name]
    return found


def _list_written(call: Call, device: str | None) -> Iterator[_Case]:
    """The cases that an author wrote; those with equal constructor arguments share one model."""
    made: list[tuple[list[object], Built | None]] = []
    for name, (own, text) in call.case_calls().items():
        arguments: list[object] = [own.args, own.kwargs, own.config]
        known = next((built for other, built in made if other == arguments), None)
        try:
            target = resolve(own, device, known)
        except TargetError as error:
            yield _Case(name, text, own, error)
        else:
            made.append((arguments, target.built))
            yield _Case(name, text, own, target)


def _list_generation(call: Call, device: str | None) -> Iterator[_Case]:
    """The passes of a model that generates."""
    own = msgspec.structs.replace(call, cases=None)
    target = resolve(own, device)
    for name, found in find_generation_calls(target.model, target.args, target.kwargs, call.model).items():
        entered = replace(target, args=found.args, kwargs=found.kwargs, entry=found.entry, trace=None)
        yield _Case(name, found.text, own, entered)


def _record(target: Target, call: Call, mode: Mode) -> Trace:
    target.model.train(bool(call.training))
    with seeded():
        return record(target, mode, measure_time=bool(call.measure_time))


def _with_assumptions(graph: Graph, target: Target) -> Graph:
    return msgspec.structs.replace(graph, assumptions=(*target.assumptions, *graph.assumptions))


def _fail(error: TargetError, like: Graph) -> Graph:
    """The graph of a case that can't be called, of the model of another case."""
    failure = Failure(type=type(error).__name__, message=str(error))
    return Graph(
        model=msgspec.structs.replace(
            like.model, inputs={}, outputs={}, flops=None, activation_bytes=None, signature=None
        ),
        nodes=(),
        adjacency={},
        hierarchy={},
        tensors={},
        parameters={},
        status=Status(state="partial", error=failure),
        provenance=like.provenance,
    )
