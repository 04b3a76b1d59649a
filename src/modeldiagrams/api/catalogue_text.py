"""Writes the rows of catalogues as tables, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from modeldiagrams.api.nested_text import to_printable
from modeldiagrams.api.text_table import write_table
from modeldiagrams.common.amounts import add_sign, format_bytes, format_count, format_flops
from modeldiagrams.html.table_cells import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from modeldiagrams.api.site_catalogue import Row

__all__ = ["write_csv", "write_json", "write_models"]

_AMOUNTS: dict[str, tuple[str, Callable[[int], str], str]] = {
    "Parameters": ("parameters", format_count, ""),
    "FLOPs": ("flops", format_flops, "flops_sign"),
    "Activations": ("activation_bytes", format_bytes, "activation_sign"),
}
_THERE = "there: "
_NAMES = ("Model", f"{_THERE}Model", "Graph")
_ALONE = ("Model", *_AMOUNTS, "Inputs")
_BESIDE = (*_NAMES, *(f"{there}{title}" for title in _AMOUNTS for there in ("", _THERE)))
_SAME = {True: "same", False: "other", None: NOTHING}


def write_json(rows: Sequence[Row]) -> str:
    """Write rows as JSON."""
    return json.dumps(rows, indent=2, ensure_ascii=False)


def write_csv(rows: Sequence[Row]) -> str:
    """Write rows as CSV."""
    file = io.StringIO()
    writer = csv.DictWriter(file, [*rows[0]] if rows else ["name"], lineterminator="\n")
    writer.writeheader()
    shapes = ("inputs", "their_inputs")
    writer.writerows({**row, **{name: _say_shapes(row[name]) for name in shapes if name in row}} for row in rows)
    return file.getvalue()


def write_models(rows: Sequence[Row], *, beside: bool) -> str:
    """Write rows as a table, `beside` those of another site."""
    titles, counts = (_BESIDE, _count(rows)) if beside else (_ALONE, {})
    counts = {"Models": len(rows), **counts}
    totals = {title: f"{count:,}" for title, count in counts.items()} | {"Costs": "of one pass with these inputs"}
    if any(row["has_assumed_inputs"] or row.get("their_has_assumed_inputs") for row in rows):
        totals["*"] = "inputs that were assumed"
    is_text = [title in {*_NAMES, "Inputs"} for title in titles]
    return write_table([titles, *([_format(row, title) for title in titles] for row in rows)], is_text, totals)


def _count(rows: Sequence[Row]) -> dict[str, int]:
    here, there = (sum(row[name] is None for row in rows) for name in ("their_name", "name"))
    return {"In both": len(rows) - here - there, "Only here": here, "Only there": there}


def _format(row: Row, title: str) -> str:
    side, title = ("their_", title.removeprefix(_THERE)) if title.startswith(_THERE) else ("", title)
    own = {name.removeprefix(side): value for name, value in row.items() if name.startswith(side)}
    if title in _AMOUNTS:
        name, written, sign = _AMOUNTS[title]
        return NOTHING if own[name] is None else add_sign(own.get(sign), written(own[name]))
    if title == "Graph":
        return _SAME[row["is_same"]]
    text = own["name"] if title == "Model" else _say_shapes(own["inputs"])
    return (to_printable(text or "") or NOTHING) + " *" * bool(title == "Inputs" and own["has_assumed_inputs"])


def _say_shapes(inputs: Mapping[str, Sequence[int | str] | None] | None) -> str:
    named = (inputs or {}).items()
    return ", ".join(f"{name} {'×'.join(map(str, shape))}" if shape else name for name, shape in named)
