"""Traces the cases of a model in one process, and unites their graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from modeldiagrams.errors import TargetError
from modeldiagrams.ir.graph import Failure, Graph, Status
from modeldiagrams.options.case_options import GENERATE
from modeldiagrams.resolve import Target, record, resolve, seeded
from modeldiagrams.resolve.exploring import rerun_within, unite_traces
from modeldiagrams.resolve.generation import find_generation_calls, is_given
from modeldiagrams.tracer import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from modeldiagrams.options.options import Call
    from modeldiagrams.resolve.strategies.requests import Built
    from modeldiagrams.tracer import Mode

__all__ = ["TracedCases", "in_one_mode", "trace_cases"]


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


def trace_cases(
    call: Call, device: str | None, prepare: Callable[[Target], Target], seconds_left: Callable[[], float]
) -> TracedCases:
    """Trace every case of a call, all in one mode if they can be.

    Args:
        call: What the author wrote.
        device: As in `resolve`.
        prepare: Moves a target to where it runs.
        seconds_left: As in `unite_traces`.

    Raises:
        TargetError: if none can be called.
    """
    targets: dict[str, Target] = {}
    errors: dict[str, TargetError] = {}
    runs: dict[str, tuple[Mode, Callable[[Mode], Trace]]] = {}
    texts: dict[str, str] = {}
    for case in _list_generation(call, device) if call.cases == GENERATE else _list_written(call, device):
        texts[case.name] = case.text
        if isinstance(case.found, TargetError):
            errors[case.name] = case.found
        else:
            target = targets[case.name] = prepare(case.found)
            runs[case.name] = case.call.mode or "auto", partial(_record, target, case.call)
    if not runs:
        raise next(iter(errors.values()))
    traces = in_one_mode(runs)
    like = next(iter(traces.values())).graph
    every = {name: traces.get(name) or Trace(_fail(errors[name], like), ()) for name in texts}
    united = unite_traces(every, texts, explores=call.explore, seconds_left=seconds_left)
    return TracedCases(united.graph, united.sources, tuple(targets.values()))


def in_one_mode(runs: Mapping[str, tuple[Mode, Callable[[Mode], Trace]]]) -> dict[str, Trace]:
    """Run cases; if some of them need real values, give them to the others, too, where these run with them.

    A model may look at values only if there are some, so its ways would differ for that reason.

    Args:
        runs: Name of a case → its mode, and what traces it in a mode.
    """
    found = {name: run(mode) for name, (mode, run) in runs.items()}
    statuses = {name: trace.graph.status for name, trace in found.items()}
    if {status.mode for status in statuses.values() if status.state == "complete"} > {"real"}:
        for name, (mode, run) in runs.items():
            if mode == "auto" and statuses[name].mode != "real":
                trace = run("real")
                found[name] = trace if trace.graph.status.state == "complete" else found[name]
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
    used = tuple(said for said in target.assumptions if is_given(said.subject.removeprefix("inputs.")))
    for name, found in find_generation_calls(target.model, target.args, target.kwargs, call.model).items():
        entered = replace(target, args=found.args, kwargs=found.kwargs, entry=found.entry, assumptions=used, trace=None)
        yield _Case(name, found.text, own, entered)


def _record(target: Target, call: Call, mode: Mode) -> Trace:
    def set_mode() -> AbstractContextManager[None]:
        target.model.train(bool(call.training))  # another case may have run in the other mode
        return seeded()

    with set_mode():
        trace = record(target, mode, measure_time=bool(call.measure_time))
    assumptions = (*target.assumptions, *trace.graph.assumptions)
    graph = msgspec.structs.replace(trace.graph, assumptions=assumptions)
    return rerun_within(replace(trace, graph=graph), set_mode)


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
