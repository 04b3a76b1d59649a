"""Renders the outline: the module hierarchy as nested lists, for readers, search and assistive technology."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
from markupsafe import Markup

from modeldiagrams.html.escape import html_text
from modeldiagrams.ir.case_texts import say_only
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.render.draw import OutlineRow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.ir.graph import Graph

__all__ = ["Branch", "build_tree", "list_outline_rows", "render_outline", "select_rows"]

_ROW_LIMIT = 200


@dataclass
class Branch:
    """A row and its children; the root has no row."""

    row: OutlineRow | None
    children: list[Branch] = field(default_factory=list)
    hidden: int = 0
    """The number of children left out."""


def list_outline_rows(diagram: Diagram) -> Sequence[OutlineRow]:
    """Return one row for each module, level by level; without a picture, one for each module call."""
    graph = diagram.graph
    rows = diagram.picture.outline if diagram.picture else _list_module_calls(graph) if graph else ()
    if graph is None or not graph.cases:
        return rows
    items = {**graph.by_id, **graph.functions}
    return [
        msgspec.structs.replace(row, only=say_only(graph, items[row.id])) if row.id in items else row for row in rows
    ]


def _list_module_calls(graph: Graph) -> Sequence[OutlineRow]:
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


def select_rows(rows: Sequence[OutlineRow]) -> Sequence[OutlineRow]:
    """Return the rows that `render_outline` shows; it leaves out the lower levels of a large model."""
    return rows[:_ROW_LIMIT]


def build_tree(rows: Sequence[OutlineRow], limit: int = _ROW_LIMIT) -> Branch:
    """Build a tree of the first rows; rows come level by level, so these are the upper levels of a large model."""
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


def render_outline(
    rows: Sequence[OutlineRow],
    link: Callable[[str, str], str] | None = None,
    anchors: Mapping[str, str] | None = None,
) -> Markup | None:
    """Render the module hierarchy as nested HTML lists.

    A row marked ``×n`` stands for repeats. A large model shows its upper levels, with the number of rows left out.

    Args:
        rows: The diagram's `list_outline_rows`.
        link: ``(fully qualified class name, its HTML) → HTML``; by default class names are plain code.
        anchors: The ``id`` of each row, by node id.

    Returns:
        One ``<ul>``; None for a model without submodules.
    """
    return _render_list(build_tree(rows), link, anchors or {}) if rows else None


def _render_list(parent: Branch, link: Callable[[str, str], str] | None, anchors: Mapping[str, str]) -> Markup:
    """Render the branches below one as nested lists; few enough rows are shown to recurse."""
    items = []
    for branch in parent.children:
        anchor = anchors.get(branch.row.id) if branch.row else None
        opening = f'<li id="{html_text(anchor)}">' if anchor else "<li>"
        label = _render_label(branch.row, link) if branch.row else ""
        items.append(f"{opening}{label}{_render_list(branch, link, anchors)}</li>\n")
    if parent.hidden:
        items.append(f'<li class="mg-more">… {parent.hidden} more</li>')
    html = f"<ul>{''.join(items)}</ul>" if items else ""
    return Markup(html)  # noqa: S704  every text in it went through html_text


def _render_label(row: OutlineRow, link: Callable[[str, str], str] | None) -> str:
    """Render name, class and count of a row, with id and full class name for the widget to find node and link."""
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
