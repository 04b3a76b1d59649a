"""The module hierarchy as nodes that every writer knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

from modeldiagrams.outline import Row, rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modeldiagrams.graph import Graph

__all__ = ["as_lists", "as_tree"]

# paper is small, figures do not break across pages, and LaTeX nests lists four deep
_ROW_LIMIT = 40
_DEPTH_LIMIT = 4


def as_lists(graph: Graph, links: Mapping[str, nodes.reference]) -> list[nodes.Node]:
    """Nested bullet lists, level by level.

    Args:
        graph: The traced model.
        links: Class → its resolved reference.
    """
    top = nodes.list_item()
    level = [(top, rows(graph, _ROW_LIMIT))]
    for depth in range(1, _DEPTH_LIMIT + 1):
        deeper = []
        for item, row in level:
            below = [
                (nodes.list_item("", _line(child, row, links, is_last=depth == _DEPTH_LIMIT)), child)
                for child in row.children
            ]
            if below:
                item.append(nodes.bullet_list("", *(inner for inner, _ in below)))
            deeper += below
        level = deeper
    return top.children


def as_tree(graph: Graph) -> nodes.literal_block:
    """The hierarchy as a drawing of lines, for what is read in one fixed font.

    ::

        Net
        ├── fc1  Linear
        └── blocks.0–11  Block ×12
            └── linear  Linear
    """
    text = "\n".join([graph.model.name, *_branches(rows(graph))])
    return nodes.literal_block(text, text, language="none")


def _branches(root: Row) -> Iterator[str]:
    """One line for each row below the root; a stack instead of recursion, because models nest deeply."""
    stack = [_below(root, "")]
    while stack:
        line = next(stack[-1], None)
        if line is None:
            stack.pop()
            continue
        text, row, indent = line
        yield text
        if row is not None:
            stack.append(_below(row, indent))


def _below(holder: Row, indent: str) -> Iterator[tuple[str, Row | None, str]]:
    """Line, row and indentation of what is below it, for each row of a holder."""
    last = len(holder.children) + bool(holder.hidden) - 1
    for i, row in enumerate(holder.children):
        branch, deeper = ("└── ", "    ") if i == last else ("├── ", "│   ")
        yield f"{indent}{branch}{row.names(holder)}  {_class_name(row)}{_times(row)}", row, indent + deeper
    if holder.hidden:
        yield f"{indent}└── … {holder.hidden} more", None, indent


def _line(row: Row, holder: Row, links: Mapping[str, nodes.reference], *, is_last: bool) -> nodes.paragraph:
    """Name, class as a link where it is documented, and how often it repeats."""
    class_ = row.calls[0].class_
    mention: nodes.Element = nodes.literal("", _class_name(row))
    if class_ in links:
        mention = links[class_].deepcopy()
    left_out = row.hidden + (len(row.children) if is_last else 0)
    hidden = f" (… {left_out} more inside)" if left_out else ""
    name = nodes.literal("", row.names(holder))
    return nodes.paragraph("", "", name, nodes.Text(" "), mention, nodes.Text(_times(row) + hidden))


def _class_name(row: Row) -> str:
    return row.calls[0].class_.rpartition(".")[2]


def _times(row: Row) -> str:
    return f" ×{len(row.calls)}" if len(row.calls) > 1 else ""
