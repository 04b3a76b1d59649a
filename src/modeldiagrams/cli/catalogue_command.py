"""The command `catalogue`."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from typing import TYPE_CHECKING

import click

from modeldiagrams.api.nested_text import to_printable
from modeldiagrams.api.site_catalogue import catalogue, compare_models
from modeldiagrams.api.terminal import echo, report_errors
from modeldiagrams.api.text_table import write_table
from modeldiagrams.common.amounts import add_sign, format_bytes, format_count, format_flops
from modeldiagrams.common.globs import compile_globs
from modeldiagrams.html.table_cells import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from modeldiagrams.api.site_catalogue import Row

__all__ = ["catalogue_command"]

_AMOUNTS: dict[str, tuple[str, Callable[[int], str], str]] = {
    "Parameters": ("parameters", format_count, ""),
    "FLOPs": ("flops", format_flops, "flops_sign"),
    "Activations": ("activation_bytes", format_bytes, "activation_sign"),
}
_SORTED = {"name": "name", "parameters": "parameters", "flops": "flops", "activations": "activation_bytes"}
_THERE = "there: "
_NAMES = ("Model", f"{_THERE}Model", "Graph")
_SAME = {True: "same", False: "other", None: NOTHING}


@click.command("catalogue")
@click.argument("site")
@click.argument("theirs", required=False)
@click.option("--match", multiple=True, metavar="PATTERN", help="Only models whose name, or its last part, matches.")
@click.option("--sort", default="name", type=click.Choice([*_SORTED]), help="By name (the default), or largest first.")
@click.option("--format", "form", default="text", type=click.Choice(["text", "json", "csv"]), help="What to print.")
def catalogue_command(site: str, theirs: str | None, match: tuple[str, ...], sort: str, form: str) -> None:
    """List the models of a built site with parameters, FLOPs and memory, or compare those of two sites.

    SITE is the address of a documentation that shows diagrams (https://…) or the folder of a built one. With THEIRS,
    another one, models that both have stand side by side: those of one name, or else of equal graphs, or else with
    the same last part of the name. No model is run or downloaded.
    """
    with report_errors():
        rows, titles = _list_models(site, match, sort), ["Model", *_AMOUNTS, "Inputs"]
        if theirs is not None:
            rows = compare_models(rows, _list_models(theirs, match, sort))
            titles = [*_NAMES, *(f"{there}{title}" for title in _AMOUNTS for there in ("", _THERE))]
        written = {"json": _to_json, "csv": _to_csv}.get(form) or partial(_to_table, titles)
        echo(written(rows).removesuffix("\n"))


def _list_models(site: str, match: Sequence[str], sort: str) -> list[Row]:
    rows, column, fits = catalogue(site), _SORTED[sort], compile_globs(match or ["*"])
    if any(row["state"] is None for row in rows):
        echo(f"{site}: figures are missing, because an older modeldiagrams built it", err=True)
    rows = [row for row in rows if fits(row["name"]) or fits(row["name"].rpartition(".")[2])]
    return rows if sort == "name" else sorted(rows, key=lambda row: 1 if row[column] is None else -row[column])


def _to_json(rows: Sequence[Row]) -> str:
    return json.dumps(rows, indent=2, ensure_ascii=False)


def _to_csv(rows: Sequence[Row]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, [*rows[0]] if rows else ["name"], lineterminator="\n")
    writer.writeheader()
    shapes = ("inputs", "their_inputs")
    writer.writerows({**row, **{name: _say_shapes(row[name]) for name in shapes if name in row}} for row in rows)
    return file.getvalue()


def _to_table(titles: Sequence[str], rows: Sequence[Row]) -> str:
    counts = {"Models": len(rows), **({} if "Inputs" in titles else _count(rows))}
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
