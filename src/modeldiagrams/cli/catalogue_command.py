"""The command `catalogue`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from modeldiagrams.api.catalogue_text import write_csv, write_json, write_models
from modeldiagrams.api.site_catalogue import compare_models, find_models
from modeldiagrams.api.terminal import echo, report_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.api.site_catalogue import Row

__all__ = ["catalogue_command"]

_SORTED = {"name": "name", "parameters": "parameters", "flops": "flops", "activations": "activation_bytes"}


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
        rows = _list_models(site, match, sort)
        if theirs is not None:
            rows = compare_models(rows, _list_models(theirs, match, sort))
        written = {"json": write_json, "csv": write_csv}.get(form) or partial(write_models, beside=theirs is not None)
        echo(written(rows).removesuffix("\n"))


def _list_models(site: str, match: Sequence[str], sort: str) -> list[Row]:
    rows, column = find_models(site, match), _SORTED[sort]
    if any(row["state"] is None for row in rows):
        echo(f"{site}: figures are missing, because an older modeldiagrams built it", err=True)
    return rows if sort == "name" else sorted(rows, key=lambda row: 1 if row[column] is None else -row[column])
