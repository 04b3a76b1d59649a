"""Unites the passes of cases, and those that take other sides where a tensor's value decided: option `explore`."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.ir.case_texts import AS_TRACED
from modeldiagrams.ir.cases import unite_cases
from modeldiagrams.ir.uniting.united_ways import drop_sides
from modeldiagrams.ir.ways import QuietSide
from modeldiagrams.tracer import Trace
from modeldiagrams.tracer.decisions.explore import Explored, explore
from modeldiagrams.tracer.values.source_lines import user_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.tracer.forward_pass import Prepare

__all__ = ["rerun_within", "unite_traces"]


def unite_traces(
    traces: Mapping[str, Trace],
    texts: Mapping[str, str] | None = None,
    *,
    explores: bool | None,
    seconds_left: Callable[[], float] = lambda: math.inf,
) -> Trace:
    """Unite passes, with those of other sides if these are asked for; a pass `AS_TRACED` alone stays as it is.

    Args:
        traces: Name of a case → its pass.
        texts: Name of a case → what its author wrote.
        explores: Whether to find other sides.
        seconds_left: Says how much time there still is.
    """
    found = explore([*traces.values()], seconds_left) if explores else Explored()
    took = frozenset[QuietSide]().union(*(trace.quiet for trace in traces.values()))
    graphs = {name: drop_sides(trace.graph, took) for name, trace in traces.items()} | found.graphs
    graph = next(iter(graphs.values()))
    if [*graphs] != [AS_TRACED]:
        graph = unite_cases(graphs, {**(texts or {}), **found.texts}, found.graphs)
    status = msgspec.structs.replace(graph.status, notes=(*graph.status.notes, *found.notes))
    files = {file for trace in traces.values() for file in trace.sources}
    return Trace(msgspec.structs.replace(graph, status=status), tuple(sorted(files.union(user_files(found.files)))))


def rerun_within(trace: Trace, state: Callable[[], AbstractContextManager[None]]) -> Trace:
    """The same trace, which runs again in a state of the model, for example with another method as entry."""
    rerun = trace.rerun
    if rerun is None:
        return trace

    def run(prepare: Prepare, **changes: Any) -> tuple[Graph, set[str]]:
        with state():
            return rerun(prepare, **changes)

    return dataclasses.replace(trace, rerun=run)
