"""The table of modules as nodes that every writer knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes

from modeldiagrams.html.summary import COLUMNS, DEFAULT_COLUMNS, SummaryRow, cell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modeldiagrams.html.summary import Summary

__all__ = ["as_table"]

_TEXTS = 3
"""Columns before those that hold numbers."""
_PADDING = 3
"""Characters: quotes of links in text, and the space between two columns in LaTeX."""
_INDENT = "\N{NO-BREAK SPACE}" * 2


def as_table(summary: Summary, links: Mapping[str, nodes.reference]) -> list[nodes.Node]:
    """The table, and what is said of the whole model.

    Args:
        summary: The content.
        links: Class → its resolved reference.
    """
    titles = ("Module", "Class", *(COLUMNS[name] for name in DEFAULT_COLUMNS))
    head: list[nodes.Node] = [nodes.Text(title) for title in titles]
    rows = [head, *(_cells(row, links) for row in summary.rows)]
    # the text builder makes columns as wide as told, the others in proportion
    widths = [max(len(line[i].astext()) for line in rows) + _PADDING for i in range(len(titles))]
    group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in widths), cols=len(widths))
    group += nodes.thead("", _line(rows[0]))
    group += nodes.tbody("", *map(_line, rows[1:]))
    table = nodes.table("", group, classes=["colwidths-given"])
    # numbers on the right, which only LaTeX can be told
    aligned = ("" if i < _TEXTS else r">{\raggedleft\arraybackslash}" for i in range(len(widths)))
    columns = "".join(rf"{where}\X{{{width}}}{{{sum(widths)}}}" for where, width in zip(aligned, widths, strict=True))
    totals = (
        nodes.line("", "", nodes.strong("", f"{title}:"), nodes.Text(f" {text}"))
        for title, text in summary.totals.items()
    )
    return [addnodes.tabular_col_spec(spec=columns), table, nodes.line_block("", *totals)]


def _cells(row: SummaryRow, links: Mapping[str, nodes.reference]) -> list[nodes.Node]:
    link = links.get(row.class_)
    class_ = link.deepcopy() if link else nodes.Text(row.class_name)
    return [
        nodes.Text(f"{_INDENT * row.level}{row.name}"),
        class_,
        *(nodes.Text(cell(row, name)) for name in DEFAULT_COLUMNS),
    ]


def _line(cells: Sequence[nodes.Node]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", content)) for content in cells))
