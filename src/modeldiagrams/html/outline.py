"""The outline: the module hierarchy as nested lists, for readers, search and assistive technology."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from markupsafe import Markup

from modeldiagrams.html.escape import html_text
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.render.draw import OutlineRow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.ir.graph import Graph

__all__ = ["Branch", "outline", "outline_rows", "shown_rows", "tree"]

_ROW_LIMIT = 200


@dataclass
class Branch:
    """A row with those below it; the root has no row."""

    row: OutlineRow | None
    children: list[Branch] = field(default_factory=list)
    hidden: int = 0
    """How many rows directly below it are left out."""


def outline_rows(diagram: Diagram) -> Sequence[OutlineRow]:
    """All modules of a diagram, level by level; without a picture every module call has a row of its own."""
    if diagram.picture:
        return diagram.picture.outline
    return _ungrouped_rows(diagram.graph) if diagram.graph else ()


def _ungrouped_rows(graph: Graph) -> Sequence[OutlineRow]:
    children = defaultdict[str | None, list[ModuleNode]](list)
    for node in graph.nodes:
        if isinstance(node, ModuleNode):
            children[graph.hierarchy[node.id]].append(node)
    rows: list[OutlineRow] = []
    parents: list[tuple[int | None, str | None, str]] = [(None, None, "")]
    for position, parent, prefix in parents:  # the list grows while it is walked
        for node in children[parent]:
            name = node.path.removeprefix(prefix)
            parents.append((len(rows), node.id, f"{node.path}."))
            rows.append(OutlineRow(parent=position, id=node.id, name=name, class_=node.class_, times=1))
    return rows


def shown_rows(rows: Sequence[OutlineRow]) -> Sequence[OutlineRow]:
    """Those that `outline` has; it leaves out the lower levels of a large model."""
    return rows[:_ROW_LIMIT]


def tree(rows: Sequence[OutlineRow], limit: int = _ROW_LIMIT) -> Branch:
    """The first rows as a tree; rows come level by level, so that a large model shows its upper levels."""
    root = Branch(None)
    branches: list[Branch] = []
    for row in rows[:limit]:
        branch = Branch(row)
        (root if row.parent is None else branches[row.parent]).children.append(branch)
        branches.append(branch)
    for row in rows[limit:]:
        if row.parent is None:
            root.hidden += 1
        elif row.parent < limit:
            branches[row.parent].hidden += 1
    return root


def outline(
    rows: Sequence[OutlineRow],
    link: Callable[[str, str], str] | None = None,
    anchors: Mapping[str, str] | None = None,
) -> Markup | None:
    """The module hierarchy as nested HTML lists.

    A row marked ``×n`` stands for repeats. A large model shows its upper levels, and says how many rows are left out
    below them.

    Args:
        rows: The diagram's `outline_rows`.
        link: ``(fully qualified class name, its HTML) → HTML``; by default class names are plain code.
        anchors: Node id → the ``id`` of its row.

    Returns:
        One ``<ul>``; None for a model without inner modules.
    """
    return _list(tree(rows), link, anchors or {}) if rows else None


def _list(root: Branch, link: Callable[[str, str], str] | None, anchors: Mapping[str, str]) -> Markup:
    """Nested lists; a stack instead of recursion, because models nest deeply."""
    html: list[str] = []
    stack: list[Branch | str] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            html.append(item)
            continue
        parts: list[Branch | str] = [*item.children]
        if item.hidden:
            parts.append(f'<li class="mg-more">… {item.hidden} more</li>')
        if parts:
            parts = ["<ul>", *parts, "</ul>"]
        if item.row:
            anchor = anchors.get(item.row.id)
            html.append(f'<li id="{html_text(anchor)}">' if anchor else "<li>")
            html.append(_label(item.row, link))
            parts.append("</li>\n")
        stack += reversed(parts)
    return Markup("".join(html))  # noqa: S704  every text in it went through html_text


def _label(row: OutlineRow, link: Callable[[str, str], str] | None) -> str:
    """Name, class and count of a row. Id and full class name let the widget find the node and the link again."""
    parts = [f'<span data-node="{html_text(row.id)}">{html_text(row.name)}</span>']
    if row.class_:
        mention = f"<code>{html_text(row.class_.rpartition('.')[2])}</code>"
        if link is not None:
            mention = link(row.class_, mention)
        parts.append(f'<span class="mg-class" data-class="{html_text(row.class_)}">{mention}</span>')
    if row.times > 1:
        parts.append(f'<span class="mg-times">×{row.times}</span>')
    if row.remark:
        parts.append(f'<span class="mg-said">({html_text(row.remark)})</span>')
    return " ".join(parts)
