"""Converts a graph to Mermaid."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modeldiagrams.api.given_graph import check_is_graph
from modeldiagrams.api.nested_text import (
    Box,
    Direction,
    Patterns,
    build_label,
    format_shape,
    parse_levels,
    to_plain_ids,
    to_printable,
    walk_boxes,
)

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Graph

__all__ = ["to_mermaid"]

_BRACKETS = {
    "input": ("([", "])"),
    "output": ("([", "])"),
    "op": ("(", ")"),
    "module": ("[", "]"),
    "function": ("[[", "]]"),
    "parameter": ("[(", ")]"),
    "buffer": ("[(", ")]"),
    "constant": ("[(", ")]"),
}

_RESERVED = (
    # words of the grammar, then attributes of every JavaScript object
    "acctitle|accdescr|call|class|classdef|click|default|direction|end|flowchart|graph|href|interpolate|linkstyle|style"
    "|subgraph|bt|lr|rl|tb|td|constructor|hasownproperty|isprototypeof|propertyisenumerable|tolocalestring|tostring"
    "|valueof|proto"
)

_SPECIAL = re.compile(r"[^\w ×….,:=/()\[\]]|_(?=_)|(?<=_)_|\.(?= )")
"""Quotes, HTML, Markdown, comments: text that Mermaid interprets even between quotes."""


def to_mermaid(  # noqa: PLR0913 (options of a view)
    graph: Graph,
    *,
    depth: int | None = None,
    expand: Patterns = None,
    collapse: Patterns = None,
    direction: Direction = "TB",
    functions: bool = True,
) -> str:
    """Convert a graph to a Mermaid flowchart, which GitHub and others draw in Markdown.

    Open modules are subgraphs. By default, Mermaid draws at most 500 edges and 50,000 characters, so choose a small
    depth for large models.

    Args:
        graph: The graph.
        depth: How many levels of modules are open; by default 1, or 0 if `expand` is given.
        expand: Patterns of module paths or class names to open as well, see the option reference.
        collapse: Patterns of modules to close.
        direction: ``TB`` (top to bottom) or ``LR`` (left to right).
        functions: Whether function calls are boxes, closed unless `expand` names them, instead of their ops.

    Returns:
        The text of a ``mermaid`` code block.

    Raises:
        OptionError: for an invalid option.
    """
    check_is_graph(graph)
    opened = parse_levels(depth, expand, collapse, direction, functions=functions)
    ids = to_plain_ids(graph, _RESERVED)
    lines = [f"flowchart {direction}"]
    indent = "    "
    for event, node in walk_boxes(graph, opened):
        if event == "close":
            indent = indent[4:]
            lines.append(f"{indent}end")
        elif event == "open":
            lines.append(f"{indent}subgraph {ids[node.id]}[{_build_text(graph, node)}]")
            indent += "    "
        else:
            before, after = _BRACKETS[node.kind]
            lines.append(f"{indent}{ids[node.id]}{before}{_build_text(graph, node)}{after}")
    for connection in graph.connections(**opened):
        arrow = "-->" if connection.flow == "data" else "-.->"
        shapes = ", ".join(dict.fromkeys(filter(None, (format_shape(graph, tensor) for tensor in connection.tensors))))
        text = f'|"{_escape(to_printable(shapes))}"|' if shapes else ""
        lines.append(f"    {ids[connection.source]} {arrow}{text} {ids[connection.target]}")
    return "\n".join([*lines, ""])


def _build_text(graph: Graph, node: Box) -> str:
    return f'"{_escape(": ".join(build_label(graph, node)))}"'


def _escape(text: str) -> str:
    """Escape text for use between quotes."""
    return _SPECIAL.sub(lambda match: f"#{ord(match[0])};", text)
