"""Checks that what a `Graph` says about its cases holds."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from modeldiagrams.ir.graph import Case, Graph
    from modeldiagrams.ir.nodes import Node

__all__ = ["check_cases"]


def check_cases(graph: Graph, nodes: Mapping[str, Node]) -> None:
    """Check the names of cases, which nodes and edges are in them, and what they name.

    Raises:
        GraphError: for the first thing that doesn't hold, with its JSON path.
    """
    ran = {i for i, case in enumerate(graph.cases) if case.status.state == "complete"}
    for i, case in enumerate(graph.cases):
        if case.name in [other.name for other in graph.cases[:i]]:
            raise GraphError(f"$.cases[{i}].name", f"expected a name of its own, got {case.name!r} a second time")
        _check_case(graph, f"$.cases[{i}]", case)
    for path, item, around in _list_items(graph, nodes):
        for k, number in enumerate(item.cases):
            if number not in ran:
                raise GraphError(f"{path}.cases[{k}]", f"expected the index of a complete case, got {number}")
        for other in around:
            if other is not None and other.cases and not set(item.cases or ran) <= {*other.cases}:
                expected = f"expected cases of {other.id!r}, {[*other.cases]}"
                raise GraphError(f"{path}.cases", f"{expected}, got {[*item.cases]}")


def _list_items(graph: Graph, nodes: Mapping[str, Node]) -> Iterator[tuple[str, Any, Sequence[Any]]]:
    """List what has cases: its JSON path, itself, and the nodes whose cases it needs."""
    for i, node in enumerate(graph.nodes):
        yield f"$.nodes[{i}]", node, [nodes.get(graph.hierarchy[node.id] or "")]
    for name, call in graph.functions.items():
        yield f"$.functions[{name!r}]", call, ()
    for source, edges in graph.adjacency.items():
        for i, edge in enumerate(edges):
            yield f"$.adjacency[{source!r}][{i}]", edge, [nodes[source], nodes[edge.to]]
    for i, way in enumerate(graph.ways):
        for j, side in enumerate(way.sides):
            yield f"$.ways[{i}].sides[{j}]", side, ()


def _check_case(graph: Graph, path: str, case: Case) -> None:
    """Check that a case names nodes, function calls, tensors and parameters of the graph."""
    known: dict[str, tuple[Collection[str], str]] = {
        "ids": (graph.hierarchy.keys() | graph.functions.keys(), "node or function call"),
        "fields": (graph.hierarchy.keys() | graph.functions.keys(), "node or function call"),
        "tensors": (graph.tensors, "tensor"),
        "parameters": (graph.parameters, "parameter"),
    }
    for field, (names, kind) in known.items():
        for name in getattr(case, field):
            if name not in names:
                raise GraphError(f"{path}.{field}[{name!r}]", f"no such {kind}: {name!r}")
    for name in chain(case.model.inputs.values(), case.model.outputs.values()):
        if name not in graph.tensors:
            raise GraphError(f"{path}.model", f"no such tensor: {name!r}")
