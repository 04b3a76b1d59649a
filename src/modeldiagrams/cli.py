"""The command line. Exit status: 0 success, 1 partial trace, 2 wrong use or failure, 130 interrupted."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast, get_args

import click

import modeldiagrams
from modeldiagrams.api.difference import diff
from modeldiagrams.api.explain import explain
from modeldiagrams.api.export import check_format, write
from modeldiagrams.api.graph_files import is_worse, loaded
from modeldiagrams.api.sides import graph_of
from modeldiagrams.api.summary import COLUMNS, DEFAULT_COLUMNS, LEVELS, summary
from modeldiagrams.api.target_file import import_path
from modeldiagrams.api.terminal import PARTIAL, STDIO, Failed, echo, errors, exit_if_partial, progress, report
from modeldiagrams.engine.snapshots import take_snapshots
from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.ir import serialize
from modeldiagrams.options.options import Call, Limits, Options, View, is_graph_file
from modeldiagrams.options.parsing import option_help, option_names, parse_options
from modeldiagrams.render.draw import Theme
from modeldiagrams.worker import Mode, Refused, Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    import msgspec

    from modeldiagrams.api.difference import Level
    from modeldiagrams.api.summary import Column
    from modeldiagrams.ir.graph import Graph

__all__ = ["main"]

_GRAPH_FILE = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
_DRAWN = (
    "The file to write: .svg, .png, .pdf, .html (interactive), .dot (Graphviz) or .mmd (Mermaid); `-` writes an SVG to"
    " stdout."
)
_FORMS = ("text", "markdown", "json")
_FORCE = click.option("--force", is_flag=True, help="Overwrite a complete graph even if the new one is incomplete.")
_MODES = (
    "How values are computed. fake: shapes only, without arithmetic. meta: the same with weights that take no memory,"
    " for models larger than this machine. real: with numbers. auto, the default: fake, and real if that fails."
)


@click.group(help=modeldiagrams.__doc__.partition("\n")[0] if modeldiagrams.__doc__ else None)
@click.version_option(modeldiagrams.__version__)
def main() -> None:
    """Run one of the commands."""


def _options(*groups: type[msgspec.Struct]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Command line options with the names and the help of a diagram's options."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        for name in reversed(option_names(*groups)):
            if name == "model":
                continue
            flag = f"--{name.replace('_', '-')}"
            command = click.option(flag, name, metavar="YAML", help=option_help()[name])(command)
        return command

    return add


def _trace_options(command: Callable[..., None]) -> Callable[..., None]:
    mode = click.option("--mode", default="auto", type=click.Choice(get_args(Mode)), help=_MODES)
    return _options(Call, Limits)(mode(command))


def _draw_options(command: Callable[..., None]) -> Callable[..., None]:
    for_drawing = "SVG for drawing programs and books: no style sheet, text as outlines."
    colours = "Colours of .png, .pdf and flat .svg files: by default light."
    flat = click.option("--flat", is_flag=True, help=for_drawing)
    theme = click.option("--theme", type=click.Choice(get_args(Theme)), help=colours)
    return _options(View)(flat(theme(command)))


@main.command("trace")
@click.argument("target")
@_trace_options
@click.option("-o", "--output", type=_GRAPH_FILE, help="The graph file to write; by default it goes to stdout.")
@_FORCE
@click.option(
    "--explain", "explained", is_flag=True, help="Print what was assumed as options to paste, instead of the graph."
)
def _trace(target: str, mode: Mode, output: Path | None, *, force: bool, explained: bool, **given: str | None) -> None:
    """Run a model once and write its graph.

    TARGET is the model: a dotted path (mypkg.Model), pkg.mod:attr, or a file and a name in it (model.py:Net), of a
    class, a factory function or an instance. Modules in the current directory can be imported.
    """
    with errors(), report(output) as say:
        if output and output != STDIO and output.suffix != ".json":
            raise ModelDiagramsError(
                f"option '-o': expected a name ending in .json, got {output.name!r};"
                f" `modeldiagrams show {target} -o {output.name}` draws"
            )
        options, graph, tried = _traced(target, mode, given)
        if output and output != STDIO and (force or not is_worse(graph, output)):
            serialize.save(graph, output)
            say(graph)
        if explained:
            echo(explain(options.call, graph, tried))
        elif output in {None, STDIO}:
            click.echo(serialize.serialize(graph, indent=1))
    exit_if_partial(target, graph)


@main.command("render")
@click.argument("graph", type=_GRAPH_FILE)
@_draw_options
@click.option("-o", "--output", required=True, type=_GRAPH_FILE, help=_DRAWN)
def _render(graph: Path, output: Path, *, flat: bool, theme: Theme | None, **view: str | None) -> None:
    """Draw a graph file; `-` reads the graph from stdin."""
    with errors(), report(output) as say:
        look = _Look(_given(view), flat, theme)
        look.check(output)
        with progress(f"drawing {graph}"):
            read = loaded(graph)
            look.draw(read, output)
        say(read)


@main.command("show")
@click.argument("target")
@_trace_options
@_draw_options
@click.option("-o", "--output", type=_GRAPH_FILE, help=f"{_DRAWN} By default the model's name with .html.")
@_FORCE
def _show(  # noqa: PLR0913  (one for each flag)
    target: str, mode: Mode, output: Path | None, *, flat: bool, theme: Theme | None, force: bool, **given: str | None
) -> None:
    """Run a model once and draw it: `trace` and `render` in one step.

    TARGET is the model, as for `trace`. Without -o, the interactive page's path is printed.
    """
    with errors(), report(output) as say:
        look = _Look(_given({name: given.pop(name) for name in option_names(View)}), flat, theme)
        look.check(output or Path("page.html"))
        _, graph, _ = _traced(target, mode, given)
        path = output or Path(re.sub(r"[^\w.-]+", "-", f"{graph.model.name}.html"))
        if force or not is_worse(graph, path):
            with progress(f"drawing {graph.model.name}"):
                look.draw(graph, path)
            say(graph, path)
        if output is None:
            echo(path)
    exit_if_partial(target, graph)


@main.command("summary")
@click.argument("target")
@_trace_options
@click.option("--depth", default=LEVELS, help=f"Number of module levels in the table, {LEVELS} by default.")
@click.option(
    "--columns",
    default=",".join(DEFAULT_COLUMNS),
    help=f"Columns after name and class, separated by commas: {', '.join(COLUMNS)}.",
)
def _summary(target: str, mode: Mode, depth: int, columns: str, **given: str | None) -> None:
    """Print a table of a model's modules with shapes, parameters and FLOPs.

    TARGET is the model, as for `trace`, or a graph file; `-` reads a graph from stdin. Equal modules in a row are one
    line (`layers.0–11`, ×12), whose numbers are those of one of them.
    """
    with errors():
        if target == str(STDIO) or is_graph_file(target):
            for name in _given(given):
                raise OptionError(name, f"{target} is a graph file, so there is nothing to call; remove this option")
            graph = loaded(Path(target))
        else:
            _, graph, _ = _traced(target, mode, given)
        names = cast("list[Column]", [name.strip() for name in columns.split(",")])
        echo(summary(graph, depth=depth, columns=names))
    exit_if_partial(target, graph)


@main.command("diff")
@click.argument("before")
@click.argument("after")
@click.option("--format", "form", default="text", type=click.Choice(_FORMS), help="What to print.")
@click.option(
    "--fail-on",
    default="none",
    type=click.Choice(["none", "any", "notable", "breaking"]),
    help="Exit with 1 if there is a change of this level, or of a more serious one.",
)
@click.option("--details", is_flag=True, help="Also list what has no effect on results.")
def _diff(before: str, after: str, form: str, fail_on: str, *, details: bool) -> None:
    """Tell what changed between two versions of a model, and whether saved weights still load.

    BEFORE and AFTER are graph files, models as for `trace`, `git:REV:path` of a committed graph file, or addresses of
    graph files (https://…); `-` reads one from stdin.
    """
    with errors():
        found = diff(*(graph_of(side, lambda target: _traced(target, "auto", {})[1]) for side in (before, after)))
        texts = {"text": found.to_text, "markdown": found.to_markdown}
        echo(found.to_json() if form == "json" else texts[form](details=details))
    if fail_on != "none":
        is_reached = found.reaches("detail" if fail_on == "any" else cast("Level", fail_on))
        # under other inputs or another mode, nothing found is not nothing changed
        sys.exit(1 if is_reached else 2 if found.reservations else 0)


@main.command("snapshot")
@click.argument("source", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--prune", is_flag=True, help="Remove graphs that no page uses any more.")
def _snapshot(source: Path, *, prune: bool) -> None:
    """Trace every model that documentation mentions, and keep the graphs.

    SOURCE is the folder of conf.py (Sphinx) or mkdocs.yml (MkDocs). The graphs go to the folder `model-graphs` beside
    it; commit them, and the documentation builds where PyTorch is not installed.
    """
    start = time.monotonic()
    with errors():
        report = take_snapshots(source, prune=prune)
    for path in report.written:
        click.echo(path)
    written, seconds = len(report.written), time.monotonic() - start
    click.echo(
        f"{written} graph{'s'[: written != 1]} written, {len(report.unchanged)} unchanged, {seconds:.1f} s", err=True
    )
    for path in report.stale:
        click.echo(f"{path}: no page uses it; {'removed' if prune else '--prune removes it'}", err=True)
    for path in report.missing:
        click.echo(f"Warning: {path} was not written, because its model could not be traced; see above", err=True)
    if report.missing:
        sys.exit(PARTIAL)


@main.command("schema")
def _schema() -> None:
    """Print the JSON Schema of graph files."""
    click.echo(json.dumps(serialize.schema(), indent=2))


class _Look(NamedTuple):
    """How a command line asks a graph to be drawn."""

    view: dict[str, str]
    flat: bool
    theme: Theme | None

    def check(self, output: Path) -> None:
        """Reject what can't be drawn, before anything takes time."""
        try:
            check_format(_file_name(output), flat=self.flat, theme=self.theme, view=self.view)
        except OptionError as error:
            # the Python API calls it `path`
            raise ModelDiagramsError(str(error).replace("option 'path'", "option '-o'", 1)) from error

    def draw(self, graph: Graph, output: Path) -> None:
        """Write a file, or an SVG to stdout."""
        if output == STDIO:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / _file_name(output)
                unmatched = write(graph, file, self.view, flat=self.flat, theme=self.theme)
                click.echo(file.read_bytes(), nl=False)
        else:
            unmatched = write(graph, output, self.view, flat=self.flat, theme=self.theme)
        if unmatched:
            echo(f"Warning: {unmatched.error(graph)}", err=True)


def _file_name(output: Path) -> str:
    return "picture.svg" if output == STDIO else output.name


def _given(options: dict[str, str | None]) -> dict[str, str]:
    return {name: text for name, text in options.items() if text is not None}


def _traced(target: str, mode: Mode, given: dict[str, str | None]) -> tuple[Options, Graph, tuple[str, ...]]:
    """Run a model in a process of its own.

    Returns:
        The options, the graph, and what was tried for inputs.
    """
    model, folders = import_path(target, Path.cwd())
    options = parse_options({"model": model, **_given(given)})
    limits = options.limits
    with Worker(limits.python, gpu=limits.uses_gpu) as worker, progress(f"tracing {target}"):
        answer = worker.trace(options, folders, mode)
    if isinstance(answer, Refused):
        raise Failed(answer.problem)
    return options, serialize.deserialize(answer.graph), answer.tried
