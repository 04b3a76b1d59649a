"""The command `describe`."""

from __future__ import annotations

import click

from modeldiagrams.api.terminal import echo, exit_if_partial, report_errors
from modeldiagrams.cli.flags import trace_flags
from modeldiagrams.cli.targets import load_or_trace
from modeldiagrams.ir.describing.text import describe

__all__ = ["describe_command"]


@click.command("describe")
@click.argument("target")
@trace_flags
def describe_command(target: str, **given: str | None) -> None:
    """Print a model as Markdown: modules, ops, what each reads, shapes, parameters and source lines.

    TARGET is the model, as for `trace`, or a graph file; `-` reads a graph from stdin. The text is for readers and
    programs that can't see pictures, such as language models.
    """
    with report_errors():
        graph = load_or_trace(target, given)
        echo(describe(graph).rstrip())
    exit_if_partial(target, graph)
