"""Builds the table of modules from docutils nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes

from modeldiagrams.html.module_summary import COLUMNS, Column, SummaryRow
from modeldiagrams.html.table_cells import format_cell

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from modeldiagrams.html.module_summary import Summary

__all__ = ["build_summary", "build_table"]

_TEXTS = 3
"""The number of text columns before numbers."""
_PADDING = 3
"""Characters: quotes of links in text, and the space between two columns in LaTeX."""
_INDENT = "\N{NO-BREAK SPACE}" * 2


def build_table(summary: Summary, links: Mapping[str, nodes.reference]) -> list[nodes.Node]:
    """Build the table and the totals of the model.

    Args:
        summary: The content.
        links: Resolved references by class.
    """
    titles = ("Module", "Class", *(COLUMNS[name] for name in summary.default_columns))
    head: list[nodes.Node] = [nodes.Text(title) for title in titles]
    totals = (
        nodes.line("", "", nodes.strong("", f"{title}:"), nodes.Text(f" {text}"))
        for title, text in summary.totals.items()
    )
    rows = [head, *(_build_cells(row, summary.default_columns, links) for row in summary.rows)]
    return [*build_summary(rows, numbers=range(_TEXTS, len(titles))), nodes.line_block("", *totals)]


def build_summary(rows: Sequence[Sequence[nodes.Node]], numbers: Container[int]) -> tuple[nodes.Node, nodes.table]:
    """Build a table whose columns are as wide as their texts.

    Args:
        rows: The cells; the first row is the head.
        numbers: Indices of the columns with numbers.

    Returns:
        The column widths for LaTeX, and the table.
    """
    # the text builder uses the exact widths, others use proportions
    widths = [max(_measure_width(line[i]) for line in rows) + _PADDING for i in range(len(rows[0]))]
    group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in widths), cols=len(widths))
    group += nodes.thead("", _build_line(rows[0]))
    group += nodes.tbody("", *map(_build_line, rows[1:]))
    table = nodes.table("", group, classes=["colwidths-given"])
    # right-aligned numbers, only in LaTeX
    aligned = (r">{\raggedleft\arraybackslash}" if i in numbers else "" for i in range(len(widths)))
    columns = "".join(rf"{where}\X{{{width}}}{{{sum(widths)}}}" for where, width in zip(aligned, widths, strict=True))
    return addnodes.tabular_col_spec(spec=columns), table


def _measure_width(cell: nodes.Node) -> int:
    return max(map(len, cell.astext().splitlines()), default=0)


def _build_cells(row: SummaryRow, columns: Sequence[Column], links: Mapping[str, nodes.reference]) -> list[nodes.Node]:
    link = links.get(row.class_)
    class_ = link.deepcopy() if link else nodes.Text(row.class_name)
    return [
        nodes.Text(f"{_INDENT * row.level}{row.name}"),
        class_,
        *(nodes.Text(format_cell(row, name)) for name in columns),
    ]


def _build_line(cells: Sequence[nodes.Node]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", _build_block(content)) for content in cells))


def _build_block(content: nodes.Node) -> nodes.Node:
    return content if isinstance(content, nodes.line_block) else nodes.paragraph("", "", content)
