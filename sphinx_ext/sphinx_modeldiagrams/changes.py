"""What changed as nodes that every writer knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from modeldiagrams.html.difference import ChangeList, ChangeRow

__all__ = ["as_changes"]


def as_changes(found: ChangeList) -> list[nodes.Node]:
    """The list of changes, between what is said of the whole model and of its weights."""
    rows = [nodes.list_item("", _row(row)) for row in found.rows]
    if found.rest:
        rows.append(nodes.list_item("", nodes.paragraph("", found.rest)))
    return [_lines(found.head), nodes.bullet_list("", *rows), _lines(found.weights)]


def _row(row: ChangeRow) -> nodes.paragraph:
    return nodes.paragraph("", f"{row.sign} ", nodes.strong("", row.level), nodes.Text(f" {row.text}"))


def _lines(texts: tuple[str, ...]) -> nodes.line_block:
    return nodes.line_block("", *(nodes.line("", text) for text in texts))
