"""Graph → Mermaid."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modeldiagrams.api.given_graph import check_is_graph
from modeldiagrams.api.nested import Box, Direction, Patterns, label, levels, plain_ids, printable, shape, walk

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
    # words of the grammar, then names that every JavaScript object has
    "acctitle|accdescr|call|class|classdef|click|default|direction|end|flowchart|graph|href|interpolate|linkstyle|style"
    "|subgraph|bt|lr|rl|tb|td|constructor|hasownproperty|isprototypeof|propertyisenumerable|tolocalestring|tostring"
    "|valueof|proto"
)

_SPECIAL = re.compile(r"[^\w ×….,:=/()\[\]]|_(?=_)|(?<=_)_|\.(?= )")
"""Quotes, HTML, Markdown, comments: what Mermaid could take for more than text, even between quotes."""


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

    Open modules are subgraphs. Mermaid draws at most 500 edges and 50,000 characters, unless its settings say
    otherwise: choose a small depth for large models.

    Args:
        graph: What to convert.
        depth: How many levels of modules are open; by default 1, or 0 if `expand` is given.
        expand: Patterns of module paths or class names that are also open, as in the option reference.
        collapse: Patterns of modules that are closed.
        direction: ``TB`` (top to bottom) or ``LR`` (left to right).
        functions: Whether function calls are boxes, closed unless `expand` names them; if not, their ops are.

    Returns:
        The text of a ``mermaid`` code block.

    Raises:
        OptionError: for a wrong value of an option.
    """
    check_is_graph(graph)
    opened = levels(depth, expand, collapse, direction, functions=functions)
    ids = plain_ids(graph, _RESERVED)
    lines = [f"flowchart {direction}"]
    indent = "    "
    for event, node in walk(graph, opened):
        if event == "close":
            indent = indent[4:]
            lines.append(f"{indent}end")
        elif event == "open":
            lines.append(f"{indent}subgraph {ids[node.id]}[{_text(node)}]")
            indent += "    "
        else:
            before, after = _BRACKETS[node.kind]
            lines.append(f"{indent}{ids[node.id]}{before}{_text(node)}{after}")
    for connection in graph.connections(**opened):
        arrow = "-->" if connection.flow == "data" else "-.->"
        shapes = ", ".join(dict.fromkeys(filter(None, (shape(graph, tensor) for tensor in connection.tensors))))
        text = f'|"{_escaped(printable(shapes))}"|' if shapes else ""
        lines.append(f"    {ids[connection.source]} {arrow}{text} {ids[connection.target]}")
    return "\n".join([*lines, ""])


def _text(node: Box) -> str:
    return f'"{_escaped(": ".join(label(node)))}"'


def _escaped(text: str) -> str:
    """Text that Mermaid shows as it is, between quotes."""
    return _SPECIAL.sub(lambda match: f"#{ord(match[0])};", text)
