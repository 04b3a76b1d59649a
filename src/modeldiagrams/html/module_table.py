"""Renders the table of modules as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from modeldiagrams.html.escape import html_text
from modeldiagrams.html.module_summary import COLUMNS, LEVELS, Column, Summary, SummaryRow, summarise
from modeldiagrams.html.outline import list_outline_rows
from modeldiagrams.html.table_cells import format_cell, list_numbers
from modeldiagrams.html.templating import load_template

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["render_summary", "summarise_diagram"]


def summarise_diagram(diagram: Diagram) -> Summary | None:
    """Build the table of a diagram; None if its options ask for none, or without a graph."""
    levels = diagram.options.figure.table
    if levels is False or diagram.graph is None:
        return None
    return summarise(diagram.graph, list_outline_rows(diagram), LEVELS if levels is True else levels)


def render_summary(
    summary: Summary,
    columns: Sequence[Column] | None = None,
    link: Callable[[str, str], str] | None = None,
) -> Markup:
    """Render a table of modules as HTML.

    Args:
        summary: The table.
        columns: The columns after name and class; by default `Summary.default_columns`.
        link: ``(fully qualified class name, its HTML) → HTML``; by default class names are plain code.
    """

    def class_of(row: SummaryRow) -> Markup:
        mention = f"<code>{html_text(row.class_name)}</code>" if row.class_ else ""
        # the model itself is documented next to the table
        return Markup(link(row.class_, mention) if link and mention and row.level else mention)  # noqa: S704  escaped

    shown = summary.default_columns if columns is None else columns
    html = load_template("table").render(
        summary=summary, columns=shown, titles=COLUMNS, class_of=class_of, cell=format_cell, numbers=list_numbers
    )
    return Markup(html)  # noqa: S704  rendered with autoescape
