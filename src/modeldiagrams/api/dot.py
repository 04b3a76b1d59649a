"""Converts a graph to Graphviz."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Literal

from modeldiagrams.api.given_graph import check_is_graph
from modeldiagrams.api.nested_text import (
    Box,
    Direction,
    Levels,
    Patterns,
    build_label,
    format_shape,
    parse_levels,
    to_plain_ids,
    to_printable,
    walk_boxes,
)
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.render.flat import require

if TYPE_CHECKING:
    from collections.abc import Iterator

    import graphviz

    from modeldiagrams.ir.graph import Graph

__all__ = ["to_dot"]

_Side = Literal["inputs", "outputs"]
_End = tuple[str, str]
"""The id of a node, and a port."""

_RESERVED = "node|edge|graph|digraph|subgraph|strict"

_MOST_PORTS = 12
"""The maximum number of ports on one side of a box; with more, it has none there, to limit its width."""

_SHAPES = {
    "input": "oval",
    "output": "oval",
    "op": "box",
    "module": "box3d",
    "function": "box3d",
    "parameter": "note",
    "buffer": "note",
    "constant": "note",
}


def to_dot(  # noqa: PLR0913 (options of a view)
    graph: Graph,
    *,
    depth: int | None = None,
    expand: Patterns = None,
    collapse: Patterns = None,
    direction: Direction = "TB",
    functions: bool = True,
) -> graphviz.Digraph:
    """Convert a graph to Graphviz, which can style it and lay it out; needs ``pip install "modeldiagrams[dot]"``.

    Open modules are clusters. A closed module with several inputs or outputs has a port for each. The ``dot`` program
    is only needed to draw the result.

    Args:
        graph: The graph.
        depth: How many levels of modules are open; by default 1, or 0 if `expand` is given.
        expand: Patterns of module paths or class names to open as well, see the option reference.
        collapse: Patterns of modules to close.
        direction: ``TB`` (top to bottom) or ``LR`` (left to right).
        functions: Whether function calls are boxes, closed unless `expand` names them, instead of their ops.

    Returns:
        A `graphviz.Digraph`: its `source` is the text in the DOT language, its `render` draws it.

    Raises:
        OptionError: for an invalid option.
        RenderError: if the Python package graphviz is not installed.
    """
    check_is_graph(graph)
    opened = parse_levels(depth, expand, collapse, direction, functions=functions)
    made = require("graphviz", "dot", "DOT files").Digraph()
    made.attr(rankdir=direction, label=_escape(graph.model.name), labelloc="t", fontname="sans-serif")
    made.attr("node", fontname="sans-serif")
    made.attr("edge", fontname="sans-serif", fontsize="10")
    ids = to_plain_ids(graph, _RESERVED)
    for event, node in walk_boxes(graph, opened):
        if event == "close":
            made.body.append("\t}\n")
        elif event == "open":
            # not Digraph.subgraph, which copies the text of a cluster for each level around it
            made.body.append(f"\tsubgraph cluster_{ids[node.id]} {{\n")
            made.attr(label=_escape(*build_label(graph, node)), tooltip=_escape(node.id))
        else:
            made.node(ids[node.id], **_describe_node(graph, node))
    for source, target, attributes in _iter_edges(graph, opened):
        made.edge(_end(ids, *source), _end(ids, *target), **attributes)
    return made


def _iter_edges(graph: Graph, opened: Levels) -> Iterator[tuple[_End, _End, dict[str, str]]]:
    """Yield an edge with its attributes for each tensor and each pair of ports."""
    for connection in graph.connections(**opened):
        source, target = (_box(graph, end) for end in (connection.source, connection.target))
        style = {} if connection.flow == "data" else {"style": "dashed"}
        for tensor in connection.tensors:
            attributes = {"label": _escape(format_shape(graph, tensor)), **style}
            for start in _ports(source, "outputs", tensor):
                for end in _ports(target, "inputs", tensor):
                    yield (source.id, start), (target.id, end), attributes


def _box(graph: Graph, name: str) -> Box:
    return graph.functions[name] if name in graph.functions else graph.node(name)


def _end(ids: dict[str, str], node: str, port: str) -> str:
    return f"{ids[node]}:{port}" if port else ids[node]


def _describe_node(graph: Graph, node: Box) -> dict[str, str]:
    """Return the Graphviz attributes of a node that is not open."""
    tooltip = _escape(node.id)
    words = "<br/>".join(map(html.escape, build_label(graph, node)))
    rows = [_port_row(node, "inputs"), words, _port_row(node, "outputs")]
    if not (rows[0] or rows[2]):
        return {"label": _escape(*build_label(graph, node)), "shape": _SHAPES[node.kind], "tooltip": tooltip}
    table = "".join(f"<tr><td>{row}</td></tr>" for row in rows if row)
    return {"label": f'<<table cellspacing="0">{table}</table>>', "shape": "plain", "tooltip": tooltip}


def _port_row(node: Box, side: _Side) -> str:
    names = enumerate(_named(node, side))
    cells = "".join(f'<td port="{side}{i}">{html.escape(to_printable(name))}</td>' for i, name in names)
    return f'<table border="0" cellborder="1" cellspacing="4"><tr>{cells}</tr></table>' if cells else ""


def _ports(node: Box, side: _Side, tensor: str) -> list[str]:
    """Return the ports where a tensor enters or leaves a node; an empty port is the node as a whole."""
    named = _named(node, side)
    return [f"{side}{i}" for i, name in enumerate(named) if named[name] == tensor] or [""]


def _named(node: Box, side: _Side) -> dict[str, str]:
    """Map the port names of one side to tensors."""
    if not isinstance(node, ModuleNode):
        return {}
    named = node.inputs if side == "inputs" else node.outputs
    return named if 1 < len(named) <= _MOST_PORTS else {}


def _escape(*lines: str) -> str:
    """Escape text for Graphviz, which would interpret backslashes and HTML entities."""
    quoting = require("graphviz", "dot", "DOT files")
    text = "\\n".join(quoting.escape(to_printable(line)).replace("&", "&amp;") for line in lines)
    return quoting.nohtml(text)  # type: ignore[no-any-return]
