"""The command `summary`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from modeldiagrams.api.graph_files import load_graph_file
from modeldiagrams.api.summary import COLUMNS, DEFAULT_COLUMNS, LEVELS, check_table, summary
from modeldiagrams.api.terminal import STDIO, CommandError, echo, exit_if_partial, report_errors
from modeldiagrams.cli.flags import trace_flags
from modeldiagrams.cli.targets import drop_missing, trace_model
from modeldiagrams.options.options import is_graph_file

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
        if target == str(STDIO) or is_graph_file(target):
            for name in drop_missing(given):
                reason = f"{target} is a graph file, so there is nothing to call; remove this option"
                raise CommandError(f"option `{name}`: {reason}")
            graph = load_graph_file(Path(target))
        else:
            graph = trace_model(target, given).graph
        echo(summary(graph, depth=depth, columns=names))
    exit_if_partial(target, graph)
