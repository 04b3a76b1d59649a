"""The table of modules as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from modeldiagrams.html.escape import html_text
from modeldiagrams.html.outline import outline_rows
from modeldiagrams.html.summary import COLUMNS, LEVELS, Column, Summary, SummaryRow, cell, summarise
from modeldiagrams.html.templating import template

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["diagram_summary", "summary_table"]


def diagram_summary(diagram: Diagram) -> Summary | None:
    """The table that a diagram asks for; None where it asks for none, or has no graph."""
    levels = diagram.options.figure.table
    if levels is False or diagram.graph is None:
        return None
    return summarise(diagram.graph, outline_rows(diagram), LEVELS if levels is True else levels)


def summary_table(
    summary: Summary,
    columns: Sequence[Column] | None = None,
    link: Callable[[str, str], str] | None = None,
) -> Markup:
    """A table of modules as HTML.

    Args:
        summary: What to show.
        columns: Those after name and class; by default `Summary.default_columns`.
        link: ``(fully qualified class name, its HTML) → HTML``; by default class names are plain code.
    """

    def class_of(row: SummaryRow) -> Markup:
        mention = f"<code>{html_text(row.class_name)}</code>" if row.class_ else ""
        # the model's own documentation is where the table stands
        return Markup(link(row.class_, mention) if link and mention and row.level else mention)  # noqa: S704  escaped

    shown = summary.default_columns if columns is None else columns
    html = template("table").render(summary=summary, columns=shown, titles=COLUMNS, class_of=class_of, cell=cell)
    return Markup(html)  # noqa: S704  rendered with autoescape
