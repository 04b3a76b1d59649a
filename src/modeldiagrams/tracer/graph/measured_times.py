"""Adds times to a graph, measured in further passes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from modeldiagrams.ir.graph import Graph, OpNode
from modeldiagrams.ir.times import sum_times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["TimedPass", "add_times", "explain_missing_times"]

_MOST_PASSES = 10
_SECONDS = 2.0
"""Another pass begins only within this time after the first one."""


class TimedPass(NamedTuple):
    """Times of the ops of a pass."""

    names: dict[str, str]
    """Op → its name."""
    times: dict[str, int | None]
    """Op → nanoseconds; None if unknown."""
    problem: str | None = None
    """Why the times are worthless."""


def add_times(graph: Graph, run: Callable[[], TimedPass]) -> Graph:
    """Add the time of each op: the least of several passes, because disturbances only make an op slower.

    Args:
        graph: The graph of a real pass, which was also the warm-up.
        run: Runs another pass.

    Returns:
        The graph with times, or with a note that says why there are none.
    """
    if graph.status.error is not None:
        return explain_missing_times(graph, "the model raised an exception")
    names = {node.id: node.name for node in graph.nodes if isinstance(node, OpNode)}
    least: dict[str, int] = {}
    for ran in _passes(run):
        if problem := ran.problem or ("it ran other operations when it ran again" if ran.names != names else None):
            return explain_missing_times(graph, problem)
        for op, nanoseconds in ran.times.items():
            if nanoseconds is not None:
                least[op] = min(nanoseconds, least.get(op, nanoseconds))
    return _set_times(graph, least)


def _passes(run: Callable[[], TimedPass]) -> Iterator[TimedPass]:
    start = time.perf_counter()
    yield run()
    for _ in range(_MOST_PASSES - 1):
        if time.perf_counter() - start > _SECONDS:
            return
        yield run()


def explain_missing_times(graph: Graph, reason: str) -> Graph:
    """Add a note that says why the graph has no times."""
    notes = (*graph.status.notes, f"The time of operations was not measured: {reason}")
    return msgspec.structs.replace(graph, status=msgspec.structs.replace(graph.status, notes=notes))


def _set_times(graph: Graph, ops: dict[str, int]) -> Graph:
    """Set the times of ops, and their sums in module calls, function calls and the model."""
    times = sum_times(graph, ops)
    replace = msgspec.structs.replace
    return replace(
        graph,
        model=replace(graph.model, time_ns=times.get(None)),
        nodes=tuple(replace(node, time_ns=times[node.id]) if node.id in times else node for node in graph.nodes),
        functions={name: replace(call, time_ns=times.get(name)) for name, call in graph.functions.items()},
    )
