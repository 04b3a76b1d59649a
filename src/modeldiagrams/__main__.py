"""The command line. Exit status: 0 well, 1 not all could be traced, 2 wrong use or failure, 130 stopped."""

from __future__ import annotations

import json
import sys
import threading
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

import modeldiagrams
from modeldiagrams import serialize
from modeldiagrams.diagrams import forward_problem
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.explain import explain
from modeldiagrams.export import check_form, write
from modeldiagrams.flat import Theme
from modeldiagrams.options import option_help, parse_options
from modeldiagrams.patterns import unmatched_in
from modeldiagrams.render import view_from
from modeldiagrams.snapshots import take_snapshots
from modeldiagrams.worker import Mode, Problem, Refused, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["main"]

_PARTIAL = 1
_FAILURE = 2
_INTERRUPTED = 130
_GRAPH_FILE = click.Path(dir_okay=False, path_type=Path)


@click.group(help=modeldiagrams.__doc__.partition("\n")[0] if modeldiagrams.__doc__ else None)
@click.version_option(modeldiagrams.__version__)
def main() -> None:
    """Run one of the commands."""


def _options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Command line options of the same names and help as in documentation."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        for name in reversed(names):
            flag = f"--{name.replace('_', '-')}"
            command = click.option(flag, name, metavar="YAML", help=option_help()[name])(command)
        return command

    return add


@main.command("trace")
@click.argument("target")
@_options("args", "kwargs", "config", "inputs", "inputs_from", "timeout", "memory", "device", "python")
@click.option("--mode", default="auto", type=click.Choice(get_args(Mode)), help="How values are computed.")
@click.option("-o", "--output", type=_GRAPH_FILE, help="The graph file to write; by default it goes to stdout.")
@click.option(
    "--explain", "explained", is_flag=True, help="Print what was assumed as options to paste, instead of the graph."
)
def _trace(target: str, mode: Mode, output: Path | None, *, explained: bool, **given: str | None) -> None:
    """Run a model once and write its graph.

    TARGET is the model: a dotted path (mypkg.Model) or pkg.mod:attr of a class, a factory function or an instance.
    Modules in the current directory can be imported.
    """
    with _errors():
        options = parse_options({"model": target, **{name: text for name, text in given.items() if text is not None}})
        gpu = options.device not in {None, "cpu"}
        with Worker(options.python, gpu=gpu) as worker, _progress(f"tracing {target}"):
            answer = worker.trace(options, [Path.cwd()], mode)
        if isinstance(answer, Refused):
            raise _Failed(answer.problem)
        graph = serialize.deserialize(answer.graph)
        if output:
            serialize.save(graph, output)
        if explained:
            click.echo(explain(options, graph, answer.tried))
        elif not output:
            click.echo(serialize.serialize(graph, indent=1))
    problem = forward_problem(target, graph)
    if problem:
        click.echo(f"Warning: {_paragraph(problem)}", err=True)
        sys.exit(_PARTIAL)


@main.command("render")
@click.argument("graph", type=_GRAPH_FILE)
@_options("depth", "expand", "collapse", "direction")
@click.option(
    "--fit",
    metavar="PAGE",
    help="The page it is for, a4, letter or [width, height] in px: shows what is legible there, and is no larger.",
)
@click.option("--flat", is_flag=True, help="SVG for drawing programs and books: no style sheet, text as outlines.")
@click.option(
    "--theme", type=click.Choice(get_args(Theme)), help="Colours of .png, .pdf and flat .svg files: by default light."
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=_GRAPH_FILE,
    help="The file to write: .svg, .png, .pdf or .html (interactive).",
)
def _render(graph: Path, output: Path, *, flat: bool, theme: Theme | None, **view: str | None) -> None:
    """Draw a graph file."""
    given = {name: text for name, text in view.items() if text is not None}
    with _errors(), _progress(f"drawing {graph}"):
        check_form(output.name, flat=flat, theme=theme, view=given)
        loaded = serialize.load(graph)
        write(loaded, output, given, flat=flat, theme=theme)
    looked = view_from({name: text for name, text in given.items() if name != "fit"})
    idle = unmatched_in(loaded, looked.expand, looked.collapse, looked.direction)
    if idle:
        click.echo(f"Warning: {idle}", err=True)


@main.command("snapshot")
@click.argument("source", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--prune", is_flag=True, help="Remove graphs from the folder that no page mentions any more.")
def _snapshot(source: Path, *, prune: bool) -> None:
    """Trace every model that documentation mentions, and keep the graphs.

    SOURCE is the folder of conf.py (Sphinx) or mkdocs.yml (MkDocs). The graphs go to the folder `model-graphs` beside
    it; commit them, and the documentation builds where PyTorch is not installed.
    """
    with _errors():
        taken = take_snapshots(source, prune=prune)
    for path in taken.written:
        click.echo(path)
    click.echo(f"{len(taken.written)} graphs written", err=True)
    for path in taken.stale:
        click.echo(f"{path}: no page mentions it; {'removed' if prune else '--prune removes it'}", err=True)
    for path in taken.missing:
        click.echo(f"Warning: {path} was not written, because its model could not be traced; see above", err=True)
    if taken.missing:
        sys.exit(_PARTIAL)


@main.command("schema")
def _schema() -> None:
    """Print the JSON Schema of graph files."""
    click.echo(json.dumps(serialize.schema(), indent=2))


class _Failed(click.ClickException):
    """A failure in one paragraph."""

    exit_code = _FAILURE

    def __init__(self, problem: Problem | Exception) -> None:
        super().__init__(_paragraph(problem) if isinstance(problem, Problem) else str(problem))


def _paragraph(problem: Problem) -> str:
    return "\n  ".join([problem.message, *problem.frames])


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except click.ClickException:
        raise
    except (ModelDiagramsError, OSError) as error:
        raise _Failed(error) from error
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except Exception:  # noqa: BLE001  (a mistake of ours: tell all, and don't look like a partial trace)
        traceback.print_exc()
        sys.exit(_FAILURE)


@contextmanager
def _progress(doing: str) -> Iterator[None]:
    """Say what is going on: at once on a terminal, elsewhere only when it takes more than a second."""
    timer = threading.Timer(0 if sys.stderr.isatty() else 1, click.echo, [f"{doing} …"], {"err": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


if __name__ == "__main__":
    main()
