"""The outline: the module hierarchy as nested lists, for readers, search and assistive technology."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from markupsafe import Markup

from modeldiagrams.graph import Graph, ModuleNode
from modeldiagrams.markup import html_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Row", "outline", "rows"]

_ROW_LIMIT = 200
_NAMES_LIMIT = 4
_INDEXED = re.compile(r"(?P<stem>.*?)(?P<index>\d+)")


@dataclass
class Row:
    """One line: a run of neighbouring calls that did the same."""

    calls: Sequence[ModuleNode]
    """Empty for the root row, which holds the others."""
    children: list[Row] = field(default_factory=list)
    hidden: int = 0
    """How many rows below it were left out."""

    def names(self, holder: Row) -> str:
        """What to call it below its holder: ``layers.0–11`` for numbered neighbours, else the names themselves."""
        prefix = holder.calls[0].path + "." if holder.calls else ""
        return _names(call.path.removeprefix(prefix) for call in self.calls)


def outline(graph: Graph, link: Callable[[str, str], str] | None = None) -> Markup | None:
    """The module hierarchy as nested HTML lists.

    Neighbours that did the same stand in one row marked ``×n``. A large model shows its upper levels: rows are taken
    level by level until the limit, and say how many were left out below them.

    Args:
        graph: The traced model.
        link: ``(fully qualified class name, its HTML) → HTML``; by default class names are plain code.

    Returns:
        One ``<ul>``; None for a model without inner modules.
    """
    root = rows(graph)
    return _list(root, link) if root.children else None


def rows(graph: Graph, limit: int = _ROW_LIMIT) -> Row:
    """The rows to show, as a tree below an empty root row: level by level until the limit."""
    held: dict[str | None, list[ModuleNode]] = defaultdict(list)
    for node in graph.nodes:
        if isinstance(node, ModuleNode):
            held[graph.hierarchy[node.id]].append(node)
    root = Row(())
    level: list[tuple[Row, str | None]] = [(root, None)]
    count = 0
    while level:
        deeper: list[tuple[Row, str | None]] = []
        for row, holder in level:
            runs = [list(run) for _, run in groupby(held[holder], key=_likeness)]
            shown = runs[: max(0, limit - count)]
            count += len(shown)
            row.children = [Row(run) for run in shown]
            row.hidden = len(runs) - len(shown)
            deeper += [(child, child.calls[0].id) for child in row.children]
        level = deeper
    return root


def _likeness(call: ModuleNode) -> object:
    """Equal for calls that did the same; without a signature a call is only like itself."""
    return (call.class_, call.signature, call.parameters.total) if call.signature else call.id


def _list(root: Row, link: Callable[[str, str], str] | None) -> Markup:
    """Nested lists of a tree of rows; a stack instead of recursion, because models nest deeply."""
    html: list[str] = []
    stack: list[tuple[Row, Row | str]] = [(root, root)]
    while stack:
        holder, item = stack.pop()
        if isinstance(item, str):
            html.append(item)
            continue
        html.append(f"<li>{_label(item, holder, link)}" if item.calls else "")
        parts: list[Row | str] = [*item.children]
        if item.hidden:
            parts.append(f'<li class="mg-more">… {item.hidden} more</li>')
        if parts:
            parts = ["<ul>", *parts, "</ul>"]
        if item.calls:
            parts.append("</li>\n")
        stack += [(item, part) for part in reversed(parts)]
    return Markup("".join(html))  # noqa: S704  every text in it went through html_text


def _label(row: Row, holder: Row, link: Callable[[str, str], str] | None) -> str:
    """Name, class and count of a row. Id and full class name let the widget find the node and the link again."""
    class_ = row.calls[0].class_
    mention = f"<code>{html_text(class_.rpartition('.')[2])}</code>"
    if link is not None:
        mention = link(class_, mention)
    names = f'<span data-node="{html_text(row.calls[0].id)}">{html_text(row.names(holder))}</span>'
    times = f' <span class="mg-times">×{len(row.calls)}</span>' if len(row.calls) > 1 else ""
    return f'{names} <span class="mg-class" data-class="{html_text(class_)}">{mention}</span>{times}'


def _names(names: Iterable[str]) -> str:
    unique = list(dict.fromkeys(names))
    first, last = _INDEXED.fullmatch(unique[0]), _INDEXED.fullmatch(unique[-1])
    if len(unique) > 1 and first and last and first["stem"] == last["stem"]:
        return f"{unique[0]}\N{EN DASH}{last['index']}"
    if len(unique) > _NAMES_LIMIT:
        return f"{', '.join(unique[: _NAMES_LIMIT - 1])}, …, {unique[-1]}"
    return ", ".join(unique)
