"""Adds up the times of ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.ir.graph import Graph

__all__ = ["sum_times"]


def sum_times(graph: Graph, ops: Mapping[str, int]) -> dict[str | None, int]:
    """Add up the times of ops in everything around them.

    Args:
        graph: A graph, whose own times are ignored.
        ops: Id of an op → its time.

    Returns:
        Id of an op, module call or function call → its time; None → the time of the model. Calls without a timed op
        are left out.
    """
    times: dict[str | None, int] = dict(ops.items())
    for node in reversed(graph.nodes) if ops else ():  # from the inside to the outside
        if node.id in times:
            functions = graph.functions_around(node) if graph.functions else ()
            for around in (*(call.id for call in functions), graph.hierarchy[node.id]):
                times[around] = times.get(around, 0) + times[node.id]
    return times
