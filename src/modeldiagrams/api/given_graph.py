"""What scripts pass for a graph."""

from __future__ import annotations

from os import PathLike

from modeldiagrams.ir.graph import Graph

__all__ = ["check_is_graph"]


def check_is_graph(given: object) -> None:
    """Reject what a graph is made of, with the function that makes it.

    Raises:
        TypeError: if it is no graph.
    """
    if isinstance(given, Graph):
        return
    make = f"modeldiagrams.load({given!r})" if isinstance(given, str | PathLike) else "modeldiagrams.trace(model, (x,))"
    raise TypeError(f"graph: expected a graph, got {type(given).__name__}; make one: {make}")
