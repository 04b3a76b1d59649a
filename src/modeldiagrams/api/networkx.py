"""Converts a graph to networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.api.given_graph import check_is_graph
from modeldiagrams.api.nested_text import Box, Levels, Patterns, parse_levels, walk_boxes
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.render.flat import require

if TYPE_CHECKING:
    from collections.abc import Iterator

    import networkx as nx

    from modeldiagrams.ir.graph import Graph

__all__ = ["to_networkx"]


def to_networkx(
    graph: Graph,
    *,
    depth: int | None = None,
    expand: Patterns = None,
    collapse: Patterns = None,
    functions: bool = True,
) -> nx.MultiDiGraph[str]:
    """Convert a graph to networkx, for its algorithms; needs ``pip install "modeldiagrams[networkx]"``.

    Args:
        graph: The graph.
        depth: How many levels of modules are open; a closed module is one node. Without `depth`, `expand` and
            `collapse`, there are no modules, only ops, inputs, outputs and weights, each with its `parent`.
        expand: Patterns of module paths or class names to open as well, see the option reference.
        collapse: Patterns of modules to close.
        functions: Whether function calls are boxes, closed unless `expand` names them, instead of their ops.

    Returns:
        A graph whose nodes are ids, with the keys of the graph format and `parent` as attributes. Edges have `tensor`,
        `shape` and `flow`, and between ops `argument`.

    Raises:
        OptionError: for an invalid option.
        RenderError: if networkx is not installed.
    """
    check_is_graph(graph)
    is_plain = all(option is None for option in (depth, expand, collapse))
    opened = parse_levels(depth, expand, collapse, functions=functions)
    made: nx.MultiDiGraph[str] = require("networkx", "networkx", "networkx graphs").MultiDiGraph(name=graph.model.name)
    nodes = graph.nodes if is_plain else [node for event, node in walk_boxes(graph, opened) if event == "node"]
    for node in nodes:
        if not (is_plain and isinstance(node, ModuleNode)):
            made.add_node(node.id, **_list_attributes(graph, node))
    for source, target, attributes in _iter_edges(graph) if is_plain else _iter_connections(graph, opened):
        made.add_edge(source, target, shape=graph.tensors[attributes["tensor"]].shape, **attributes)
    return made


def _list_attributes(graph: Graph, box: Box) -> dict[str, Any]:
    content = {"kind": box.kind, "parent": graph.hierarchy.get(box.id), **msgspec.to_builtins(box)}
    del content["id"]
    return content


def _iter_edges(graph: Graph) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the edges of the graph."""
    for source, edges in graph.adjacency.items():
        for edge in edges:
            yield source, edge.to, {"tensor": edge.tensor, "argument": edge.argument, "flow": edge.flow}


def _iter_connections(graph: Graph, opened: Levels) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the edges between visible nodes."""
    for found in graph.connections(**opened):
        for tensor in found.tensors:
            yield found.source, found.target, {"tensor": tensor, "flow": found.flow}
