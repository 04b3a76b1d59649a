"""Renders what a pass left out: modules that never ran, and sides of branches."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from markupsafe import Markup

from modeldiagrams.html.escape import html_text
from modeldiagrams.ir.way_words import (
    WAITS_FOR,
    count_uncalled,
    fold_paths,
    list_left_sides,
    list_partial,
    say_taken,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.ir.graph import Graph

__all__ = ["render_left_out"]

_MOST = 100
"""Sides, and modules, to list."""


def render_left_out(graph: Graph) -> Markup | None:
    """Render the modules that never ran, and, folded, the sides that were not taken; None if there are none."""
    parts = [*_render_uncalled(graph), *_render_ways(graph)]
    return Markup("\n".join(parts)) if parts else None  # noqa: S704  every text in it went through html_text


def _render_uncalled(graph: Graph) -> Iterable[str]:
    if not graph.uncalled:
        return
    classes = {module.path: module.class_.rpartition(".")[2] for module in graph.uncalled}
    rows = [
        f"<li>{html_text(path)}{f' <code>{html_text(classes[path])}</code>' if path in classes else ''}</li>"
        for path in fold_paths([*classes])
    ]
    yield f'<div class="mg-left-out"><p>{count_uncalled(graph)} never ran:</p><ul>{_join(rows)}</ul></div>'


def _render_ways(graph: Graph) -> Iterable[str]:
    left, partial = list_left_sides(graph), list_partial(graph)
    if not left and not partial:
        return
    groups = [
        f"<p>{WAITS_FOR[kind]}{'' if is_own else ', in code around it'}:</p>"
        f"<ul>{_join([_render_side(side.text, side.source) for side in sides])}</ul>"
        for (is_own, kind), sides in groupby(left, lambda side: (side.is_own, side.waits_for))
    ]
    if partial:
        rows = [_render_side(text, f"{source}, {cases}") for text, source, cases in partial]
        groups.append(f"<p>In some cases only:</p><ul>{_join(rows)}</ul>")
    count = f"{len(partial)} way{'s'[: len(partial) != 1]} through its code in some cases only"
    summary = f"{html_text(say_taken(graph))} through its code" if left else count
    yield f'<details class="mg-left-out"><summary>{summary}</summary>{"".join(groups)}</details>'


def _render_side(text: str, source: str) -> str:
    return f"<li><code>{html_text(text)}</code> {html_text(source)}</li>"


def _join(rows: list[str]) -> str:
    more = [f"<li>… and {len(rows) - _MOST} more</li>"] if len(rows) > _MOST else []
    return "".join([*rows[:_MOST], *more])
