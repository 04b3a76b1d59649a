"""Puts times into a graph: how long its ops take in passes that follow the recorded one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from modeldiagrams.ir.graph import Graph, OpNode
from modeldiagrams.ir.times import summed_times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["TimedPass", "timed", "without_times"]

_MOST_PASSES = 10
_SECONDS = 2.0
"""Passes that are timed: the first one, and others that begin within this time."""


class TimedPass(NamedTuple):
    """How long the ops of a pass took."""

    names: dict[str, str]
    """Op → its name."""
    times: dict[str, int | None]
    """Op → nanoseconds; None where they are not known."""
    problem: str | None = None
    """Why the times say nothing."""


def timed(graph: Graph, run: Callable[[], TimedPass]) -> Graph:
    """A graph with the time of each op: the least of several passes, as what disturbs an op only makes it slower.

    Args:
        graph: Of a pass that ran for real, and so did what only the first run of an op does.
        run: Runs another pass.

    Returns:
        The graph with times, or with a note that says why it has none.
    """
    if graph.status.error is not None:
        return without_times(graph, "the model raised an exception")
    names = {node.id: node.name for node in graph.nodes if isinstance(node, OpNode)}
    least: dict[str, int] = {}
    for ran in _passes(run):
        if problem := ran.problem or ("it ran other operations when it ran again" if ran.names != names else None):
            return without_times(graph, problem)
        for op, nanoseconds in ran.times.items():
            if nanoseconds is not None:
                least[op] = min(nanoseconds, least.get(op, nanoseconds))
    return _with_times(graph, least)


def _passes(run: Callable[[], TimedPass]) -> Iterator[TimedPass]:
    start = time.perf_counter()
    yield run()
    for _ in range(_MOST_PASSES - 1):
        if time.perf_counter() - start > _SECONDS:
            return
        yield run()


def without_times(graph: Graph, reason: str) -> Graph:
    """A graph that says why it has no times."""
    notes = (*graph.status.notes, f"The time of operations was not measured: {reason}")
    return msgspec.structs.replace(graph, status=msgspec.structs.replace(graph.status, notes=notes))


def _with_times(graph: Graph, ops: dict[str, int]) -> Graph:
    """A graph in which ops have these times, and what is around them their sums."""
    times = summed_times(graph, ops)
    replace = msgspec.structs.replace
    return replace(
        graph,
        model=replace(graph.model, time_ns=times.get(None)),
        nodes=tuple(replace(node, time_ns=times[node.id]) if node.id in times else node for node in graph.nodes),
        functions={name: replace(call, time_ns=times.get(name)) for name, call in graph.functions.items()},
    )
