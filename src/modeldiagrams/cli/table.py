"""The command `summary`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from modeldiagrams.api.summary import COLUMNS, DEFAULT_COLUMNS, LEVELS, check_table, summary
from modeldiagrams.api.terminal import echo, exit_if_partial, report_errors
from modeldiagrams.cli.flags import trace_flags
from modeldiagrams.cli.targets import load_or_trace

if TYPE_CHECKING:
    from modeldiagrams.api.summary import Column

__all__ = ["summary_command"]


@click.command("summary")
@click.argument("target")
@trace_flags
@click.option("--depth", default=LEVELS, help=f"Number of module levels in the table, {LEVELS} by default.")
@click.option(
    "--columns",
    help=f"Columns after name and class, separated by commas: {', '.join(COLUMNS)}; by default"
    f" {', '.join(DEFAULT_COLUMNS)}, and the time if it was measured.",
)
def summary_command(target: str, depth: int, columns: str | None, **given: str | None) -> None:
    """Print a table of a model's modules with shapes, parameters and FLOPs.

    TARGET is the model, as for `trace`, or a graph file; `-` reads a graph from stdin. Equal modules in a row are one
    line (`layers.0–11`, ×12) with the numbers of one of them.
    """
    names = None if columns is None else cast("list[Column]", [name.strip() for name in columns.split(",")])
    with report_errors():
        check_table(depth, names or ())
        graph = load_or_trace(target, given)
        echo(summary(graph, depth=depth, columns=names))
    exit_if_partial(target, graph)
