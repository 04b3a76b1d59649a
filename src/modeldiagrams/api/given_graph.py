"""Checks graphs that scripts pass."""

from __future__ import annotations

from os import PathLike

from modeldiagrams.ir.graph import Graph

__all__ = ["check_is_graph"]


def check_is_graph(given: object) -> None:
    """Check that an argument is a graph; the error names the function that makes one.

    Raises:
        TypeError: if it is not a graph.
    """
    if isinstance(given, Graph):
        return
    make = f"modeldiagrams.load({given!r})" if isinstance(given, str | PathLike) else "modeldiagrams.trace(model, (x,))"
    raise TypeError(f"graph: expected a graph, got {type(given).__name__}; make one: {make}")
