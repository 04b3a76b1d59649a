"""The commands `trace` and `schema`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from modeldiagrams.api.explain import explain
from modeldiagrams.api.graph_files import is_worse
from modeldiagrams.api.terminal import STDIO, CommandError, echo, exit_if_partial, report, report_errors
from modeldiagrams.cli.flags import FORCE, GRAPH_FILE, trace_flags
from modeldiagrams.cli.targets import trace_model
from modeldiagrams.ir import serialize

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["schema_command", "trace_command"]


@click.command("trace")
@click.argument("target")
@trace_flags
@click.option("-o", "--output", type=GRAPH_FILE, help="The graph file to write; stdout by default.")
@FORCE
@click.option(
    "--explain", "explained", is_flag=True, help="Print assumptions as options to paste, instead of the graph."
)
def trace_command(target: str, output: Path | None, *, force: bool, explained: bool, **given: str | None) -> None:
    """Run a model once and write its graph.

    TARGET is a class, a factory function or an instance: a dotted path (mypkg.Model), pkg.mod:attr, or a file and a
    name in it (model.py:Net). Modules in the current directory can be imported.
    """
    with report_errors(), report(output) as say:
        if output and output != STDIO and output.suffix != ".json":
            raise CommandError(
                f"option `-o`: expected a name ending in .json, got {output.name!r};"
                f" `modeldiagrams show {target} -o {output.name}` draws"
            )
        options, graph, tried = trace_model(target, given)
        if output and output != STDIO and (force or not is_worse(graph, output)):
            serialize.save(graph, output)
            say(graph)
        if explained:
            echo(explain(options.call, graph, tried))
        elif output in {None, STDIO}:
            click.echo(serialize.serialize(graph, indent=1))
    exit_if_partial(target, graph)


@click.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of graph files."""
    click.echo(json.dumps(serialize.schema(), indent=2))
