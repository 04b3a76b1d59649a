"""Graph → networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.api.given_graph import check_is_graph
from modeldiagrams.api.nested import Box, Levels, Patterns, levels, walk
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.render.flat import library

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
        graph: What to convert.
        depth: How many levels of modules are open; a closed module is one node. Without `depth`, `expand` and
            `collapse` there are no modules, only the ops, inputs, outputs and weights, with the `parent` of each.
        expand: Patterns of module paths or class names that are also open, as in the option reference.
        collapse: Patterns of modules that are closed.
        functions: Whether function calls are boxes, closed unless `expand` names them; if not, their ops are.

    Returns:
        Its nodes are ids; their attributes are the keys of the graph format, and `parent`. Its edges have `tensor`,
        `shape` and `flow`, and between ops the `argument`.

    Raises:
        OptionError: for a wrong value of an option.
        RenderError: if networkx is not installed.
    """
    check_is_graph(graph)
    is_plain = all(option is None for option in (depth, expand, collapse))
    opened = levels(depth, expand, collapse, functions=functions)
    made: nx.MultiDiGraph[str] = library("networkx", "networkx", "networkx graphs").MultiDiGraph(name=graph.model.name)
    nodes = graph.nodes if is_plain else [node for event, node in walk(graph, opened) if event == "node"]
    for node in nodes:
        if not (is_plain and isinstance(node, ModuleNode)):
            made.add_node(node.id, **_attributes(graph, node))
    for source, target, attributes in _tensors(graph) if is_plain else _connections(graph, opened):
        made.add_edge(source, target, shape=graph.tensors[attributes["tensor"]].shape, **attributes)
    return made


def _attributes(graph: Graph, box: Box) -> dict[str, Any]:
    content = {"kind": box.kind, "parent": graph.hierarchy.get(box.id), **msgspec.to_builtins(box)}
    del content["id"]
    return content


def _tensors(graph: Graph) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The edges of the graph."""
    for source, edges in graph.adjacency.items():
        for edge in edges:
            yield source, edge.to, {"tensor": edge.tensor, "argument": edge.argument, "flow": edge.flow}


def _connections(graph: Graph, opened: Levels) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The edges between what is shown."""
    for found in graph.connections(**opened):
        for tensor in found.tensors:
            yield found.source, found.target, {"tensor": tensor, "flow": found.flow}
