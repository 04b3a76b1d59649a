"""Graph → networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.api.nested import check_view, walk
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.render.flat import library

if TYPE_CHECKING:
    from collections.abc import Iterator

    import networkx as nx

    from modeldiagrams.ir.graph import Graph, Node

__all__ = ["to_networkx"]


def to_networkx(graph: Graph, *, depth: int | None = None) -> nx.MultiDiGraph[str]:
    """Convert a graph to networkx, for its algorithms; needs ``pip install "modeldiagrams[networkx]"``.

    Args:
        graph: What to convert.
        depth: How many levels of modules are open; a closed module is one node. By default there are no modules, only
            the ops, inputs, outputs and weights, with the `parent` of each.

    Returns:
        Its nodes are ids; their attributes are the keys of the graph format, and `parent`. Its edges have `tensor`,
        `shape` and `flow`, and without a depth the `argument`.

    Raises:
        OptionError: for a depth of another form.
        RenderError: if networkx is not installed.
    """
    check_view(depth or 0, "TB")
    made: nx.MultiDiGraph[str] = library("networkx", "networkx", "networkx graphs").MultiDiGraph(name=graph.model.name)
    nodes = graph.nodes if depth is None else [node for event, node in walk(graph, depth) if event == "node"]
    for node in nodes:
        if depth is not None or not isinstance(node, ModuleNode):
            made.add_node(node.id, parent=graph.hierarchy[node.id], **_attributes(node))
    for source, target, attributes in _tensors(graph) if depth is None else _connections(graph, depth):
        made.add_edge(source, target, shape=graph.tensors[attributes["tensor"]].shape, **attributes)
    return made


def _attributes(node: Node) -> dict[str, Any]:
    content = msgspec.to_builtins(node)
    del content["id"]
    return dict(content)


def _tensors(graph: Graph) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The edges of the graph."""
    for source, edges in graph.adjacency.items():
        for edge in edges:
            yield source, edge.to, {"tensor": edge.tensor, "argument": edge.argument, "flow": edge.flow}


def _connections(graph: Graph, depth: int) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The edges between what is shown at a depth."""
    for found in graph.connections(depth):
        for tensor in found.tensors:
            yield found.source, found.target, {"tensor": tensor, "flow": found.flow}
