"""The command `cost`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from modeldiagrams.api.cost import cost
from modeldiagrams.api.summary import LEVELS, check_table
from modeldiagrams.api.terminal import CommandError, echo, exit_if_partial, report_errors
from modeldiagrams.cli.flags import trace_flags
from modeldiagrams.cli.targets import load_or_trace
from modeldiagrams.ir.documents import write_document
from modeldiagrams.ir.parameter_memory import OPTIMIZERS

if TYPE_CHECKING:
    from modeldiagrams.ir.parameter_memory import Optimizer

__all__ = ["cost_command"]


@click.command("cost")
@click.argument("target")
@trace_flags
@click.option(
    "--set", "sizes", multiple=True, metavar="NAME=SIZE", help="A size of the inputs: `--set T=8192 --set B=4`."
)
@click.option("--depth", default=LEVELS, help=f"Number of module levels in the table, {LEVELS} by default.")
@click.option(
    "--optimizer",
    default="adam",
    type=click.Choice([*OPTIMIZERS]),
    help="What the training keeps of each weight: two numbers (adam, the default), one (sgd, with momentum) or none.",
)
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="An SVG file: a chart of costs by size.")
@click.option("--over", metavar="NAME", help="The chart's axis; by default the size with which costs grow fastest.")
@click.option("--format", "form", default="text", type=click.Choice(["text", "json"]), help="What to print.")
def cost_command(  # noqa: PLR0913  (one for each flag)
    target: str,
    sizes: tuple[str, ...],
    *,
    depth: int,
    optimizer: Optimizer,
    plot: Path | None,
    over: str | None,
    form: str,
    **given: str | None,
) -> None:
    """Print what the modules of a model cost at other sizes of its inputs, without running it there.

    TARGET is the model, as for `trace`, or a graph file; `-` reads a graph from stdin. Sizes that are not set are those
    of the graph. Numbers are those of all calls of a line, so the lines of a module add up to it.
    """
    with report_errors():
        check_table(depth, ())
        if plot and plot.suffix != ".svg":
            raise CommandError(f"option `plot`: expected a name ending in .svg, got {plot.name!r}")
        if over and not plot:
            raise CommandError("option `over`: it is for a chart; add `--plot costs.svg`")
        chosen = _parse_sizes(sizes)
        graph = load_or_trace(target, given)
        table = cost(graph, chosen, depth=depth, optimizer=optimizer)
        if plot:
            write_document(plot, table.to_svg(over).encode())
            echo(plot, err=True)
        echo(table.to_json() if form == "json" else table)
    exit_if_partial(target, graph)


def _parse_sizes(given: tuple[str, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for text in given:
        name, number = (part.strip() for part in text.partition("=")[::2])
        if not name or not number.isdecimal():
            raise CommandError(f"option `set`: expected a name and a whole number, `T=8192`, got {text!r}")
        if name in found:
            raise CommandError(f"option `set`: {name} is set twice")
        found[name] = int(number)
    return found
