"""Times of ops → times of what is around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.ir.graph import Graph

__all__ = ["summed_times"]


def summed_times(graph: Graph, ops: Mapping[str, int]) -> dict[str | None, int]:
    """What ops took, and what is around them took together.

    Args:
        graph: Its own times are not looked at.
        ops: Id of an op → its time.

    Returns:
        Id of an op, module call or function call → its time; None → that of the model. What has no op with a time in
        it is left out.
    """
    times: dict[str | None, int] = dict(ops.items())
    for node in reversed(graph.nodes) if ops else ():  # what is inside comes after what is around it
        if node.id in times:
            functions = graph.functions_around(node) if graph.functions else ()
            for around in (*(call.id for call in functions), graph.hierarchy[node.id]):
                times[around] = times.get(around, 0) + times[node.id]
    return times
