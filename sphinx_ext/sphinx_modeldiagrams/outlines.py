"""Renders the module hierarchy with nodes that every writer knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

from modeldiagrams.html.outline import Branch, build_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modeldiagrams.render.draw import OutlineRow

__all__ = ["build_lists"]

# paper is small, figures do not break across pages, and LaTeX nests lists four deep
_ROW_LIMIT = 40
_DEPTH_LIMIT = 4


def build_lists(rows: Sequence[OutlineRow], links: Mapping[str, nodes.reference]) -> list[nodes.Node]:
    """Build nested bullet lists, level by level.

    Args:
        rows: The diagram's `list_outline_rows`.
        links: Class → its resolved reference.
    """
    top = nodes.list_item()
    level = [(top, build_tree(rows, _ROW_LIMIT))]
    for depth in range(1, _DEPTH_LIMIT + 1):
        deeper = []
        for item, branch in level:
            below = [
                (nodes.list_item("", _build_item(child, links, is_last=depth == _DEPTH_LIMIT)), child)
                for child in branch.children
            ]
            if below:
                item.append(nodes.bullet_list("", *(inner for inner, _ in below)))
            deeper += below
        level = deeper
    return top.children


def _build_item(branch: Branch, links: Mapping[str, nodes.reference], *, is_last: bool) -> nodes.paragraph:
    """Return the name, the class as a link if it is documented, and how often the module repeats."""
    row = branch.row
    if row is None:
        return nodes.paragraph()
    parts: list[nodes.Node] = [nodes.literal("", row.name)]
    if row.class_ in links:
        parts += [nodes.Text(" "), links[row.class_].deepcopy()]
    elif row.class_:
        parts += [nodes.Text(" "), nodes.literal("", _get_class_name(row))]
    left_out = branch.hidden + (len(branch.children) if is_last else 0)
    hidden = f" (… {left_out} more inside)" if left_out else ""
    return nodes.paragraph("", "", *parts, nodes.Text(_format_times(row) + _format_remark(row) + hidden))


def _format_remark(row: OutlineRow) -> str:
    return f" ({row.remark})" if row.remark else ""


def _get_class_name(row: OutlineRow) -> str:
    return row.class_.rpartition(".")[2]


def _format_times(row: OutlineRow) -> str:
    return f" ×{row.times}" if row.times > 1 else ""
