"""Makes the table of modules, as text for terminals and as HTML for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import asdict

from modeldiagrams.api.given_graph import check_is_graph
from modeldiagrams.api.nested_text import to_printable
from modeldiagrams.api.text_table import write_table
from modeldiagrams.engine.problems import make_forward_problem
from modeldiagrams.errors import OptionError
from modeldiagrams.html.module_summary import COLUMNS, DEFAULT_COLUMNS, LEVELS, Column, Summary, summarise
from modeldiagrams.html.module_table import render_summary
from modeldiagrams.html.table_cells import format_cell
from modeldiagrams.ir.way_words import count_uncalled, list_left_sides, name_uncalled, say_taken
from modeldiagrams.render.assets import find_asset
from modeldiagrams.render.draw import build_outline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.ir.graph import Graph

__all__ = ["COLUMNS", "DEFAULT_COLUMNS", "LEVELS", "Column", "ModelSummary", "check_table", "summary"]

_INDENT = "  "
_MOST_SIDES = 3


def summary(graph: Graph, *, depth: int = LEVELS, columns: Sequence[Column] | None = None) -> ModelSummary:
    """Make a table of a model's modules: ``print(modeldiagrams.summary(graph))``.

    Consecutive equal modules are one row, such as ``layers.0–11`` with ``×12`` calls. The numbers of a row are those of
    one call; the totals below the table count every call, and shared weights once. If the pass failed, the table misses
    modules and costs, and a line below the totals says why.

    Args:
        graph: The traced model.
        depth: The number of module levels.
        columns: The columns after name and class, out of ``inputs``, ``outputs``, ``parameters``, ``trainable``,
            ``flops``, ``activations``, ``time``, ``calls`` and ``cases``; by default all but inputs, activations, and
            what the graph doesn't have: times and cases.

    Returns:
        The table: text when printed, HTML in a notebook, and `rows` for scripts.

    Raises:
        OptionError: for a depth that is not a number above 0, or an unknown column.
        RenderError: if the viewer, which groups equal modules, fails or was not built.
    """
    check_is_graph(graph)
    check_table(depth, columns or ())
    content = summarise(graph, build_outline(graph), depth, limit=None)
    if problem := make_forward_problem(graph.model.name, graph):
        content = msgspec.structs.replace(
            content, totals={**content.totals, "Incomplete": " ".join(problem.message.split())}
        )
    content = msgspec.structs.replace(content, totals={**content.totals, **_list_left_out(graph)})
    return ModelSummary(content, content.default_columns if columns is None else columns)


def _list_left_out(graph: Graph) -> dict[str, str]:
    """What a pass left out, as lines below the totals."""
    found = {}
    if graph.uncalled:
        found["Never ran"] = f"{count_uncalled(graph)}: {name_uncalled(graph)}"
    if left := list_left_sides(graph):
        sides = "; ".join(f"{side.text} ({side.source})" for side in left[:_MOST_SIDES])
        more = f"; … and {len(left) - _MOST_SIDES} more" if len(left) > _MOST_SIDES else ""
        found["Ways"] = f"{say_taken(graph)}; not taken: {sides}{more}"
    return found


def check_table(depth: int, columns: Sequence[str]) -> None:
    """Check the options of `summary`; call it before the graph is traced.

    Raises:
        OptionError: for the first invalid option.
    """
    if not isinstance(depth, int) or isinstance(depth, bool) or depth < 1:
        raise OptionError("depth", f"expected a number of levels above 0, got {depth!r}")
    for name in columns:
        if name not in COLUMNS:
            raise OptionError("columns", f"expected some of {', '.join(COLUMNS)}, got {name!r}")


class ModelSummary:
    """A table of a model's modules.

    Attributes:
        rows: One dict for each row, the model first, for example for ``pandas.DataFrame(table.rows)``. It has all
            values, whatever columns are shown: `level` (0 is the model), `name`, `path`, `class_`, `calls`, `shared`
            (whether it shares weights with another call), `inputs` and `outputs` (shapes by name), `parameters`,
            `trainable`, `flops`, `activation_bytes`, `time_ns`; `cases` (letters, if it is not in all) and `by_case`
            (name → the same values in that case).
    """

    def __init__(self, content: Summary, columns: Sequence[Column]) -> None:
        self._content = content
        self._columns = tuple(columns)
        self.rows: list[dict[str, Any]] = [
            {**asdict(row), "by_case": {name: asdict(one) for name, one in row.by_case.items()}} for row in content.rows
        ]

    def __str__(self) -> str:
        table = [["Module", "Class", *(COLUMNS[name] for name in self._columns)]]
        for row in self._content.rows:
            name = f"{_INDENT * row.level}{to_printable(row.name)}"
            table.append(
                [
                    name,
                    to_printable(row.class_name),
                    *(to_printable(format_cell(row, name)) for name in self._columns),
                ]
            )
        is_text = [True, True, *(name in {"inputs", "outputs"} for name in self._columns)]
        return write_table(table, is_text, self._content.totals)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        style = find_asset("table.css").read_text("utf-8")
        return f"<style>{style}</style>{render_summary(self._content, self._columns)}"
