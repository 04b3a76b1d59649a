"""The commands that trace and draw; those that compare are in `comparing`."""

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
from modeldiagrams.api.annotations import annotations_by_options
from modeldiagrams.api.explain import explain
from modeldiagrams.api.export import DRAWN, Theme, check_format, write
from modeldiagrams.api.graph_files import is_worse, loaded
from modeldiagrams.api.summary import COLUMNS, DEFAULT_COLUMNS, LEVELS, check_table, summary
from modeldiagrams.api.terminal import PARTIAL, STDIO, Failed, echo, errors, exit_if_partial, progress, report
from modeldiagrams.cli.comparing import check_command, diff_command, history_command
from modeldiagrams.cli.tracing import given_options, maker, traced
from modeldiagrams.cli.watching import watch_command
from modeldiagrams.engine.embedding import without_model
from modeldiagrams.engine.once import Mode
from modeldiagrams.engine.recordings import named_files, read_recordings
from modeldiagrams.engine.snapshots import take_snapshots
from modeldiagrams.ir import serialize
from modeldiagrams.options.options import Author, Call, Limits, View, is_graph_file
from modeldiagrams.options.parsing import option_help, option_names, parse_option, parse_view

if TYPE_CHECKING:
    from collections.abc import Callable

    import msgspec

    from modeldiagrams.api.summary import Column
    from modeldiagrams.engine.embedding import Make
    from modeldiagrams.ir.graph import Graph

__all__ = ["main"]

_GRAPH_FILE = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
_DRAWN = (
    "The file to write: .svg, .png, .pdf, .html (interactive), .dot (Graphviz) or .mmd (Mermaid); `-` writes an SVG to"
    " stdout."
)
_FORCE = click.option("--force", is_flag=True, help="Overwrite a complete graph even if the new one is incomplete.")
_MODES = (
    "How values are computed. fake: shapes only, without arithmetic. meta: the same, and weights take no memory, for"
    " models larger than this machine. real: with values. auto, the default: fake, and real if that fails."
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
    colours = "Colours of .png, .pdf and flat .svg files; light by default."
    flat = click.option("--flat", is_flag=True, help=for_drawing)
    theme = click.option("--theme", type=click.Choice(get_args(Theme)), help=colours)
    recording = click.option("--recording", metavar="YAML", help=f"{option_help()['recording']} For .html files.")
    return _options(View, Author)(recording(flat(theme(command))))


@main.command("trace")
@click.argument("target")
@_trace_options
@click.option("-o", "--output", type=_GRAPH_FILE, help="The graph file to write; stdout by default.")
@_FORCE
@click.option(
    "--explain", "explained", is_flag=True, help="Print assumptions as options to paste, instead of the graph."
)
def _trace(target: str, mode: Mode, output: Path | None, *, force: bool, explained: bool, **given: str | None) -> None:
    """Run a model once and write its graph.

    TARGET is a class, a factory function or an instance: a dotted path (mypkg.Model), pkg.mod:attr, or a file and a
    name in it (model.py:Net). Modules in the current directory can be imported.
    """
    with errors(), report(output) as say:
        if output and output != STDIO and output.suffix != ".json":
            raise Failed(
                f"option `-o`: expected a name ending in .json, got {output.name!r};"
                f" `modeldiagrams show {target} -o {output.name}` draws"
            )
        options, graph, tried, _ = traced(target, mode, given)
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
        look = _Look(given_options(view), flat, theme)
        look.check(output)
        read = loaded(graph)  # from stdin it comes when another command has traced a model
        with progress(f"drawing {read.model.name}"):
            look.draw(read, output)
        say(read)


@main.command("show")
@click.argument("target")
@_trace_options
@_draw_options
@click.option("-o", "--output", type=_GRAPH_FILE, help=f"{_DRAWN} By default, the model's name with .html.")
@_FORCE
def _show(  # noqa: PLR0913  (one for each flag)
    target: str, mode: Mode, output: Path | None, *, flat: bool, theme: Theme | None, force: bool, **given: str | None
) -> None:
    """Run a model once and draw it: `trace` and `render` in one step.

    TARGET is the model, as for `trace`. Without -o, the interactive page's path is printed.
    """
    with errors(), report(output) as say:
        look = _Look(
            given_options({name: given.pop(name) for name in (*option_names(View, Author), "recording")}), flat, theme
        )
        look.check(output or Path("page.html"))
        _, graph, _, sources = traced(target, mode, given)
        path = output or Path(re.sub(r"[^\w.-]+", "-", f"{graph.model.name}.html"))
        if force or not is_worse(graph, path):
            with progress(f"drawing {graph.model.name}"):
                look.draw(graph, path, maker(target, given), sources)
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
    help=f"Columns after name and class, separated by commas: {', '.join(COLUMNS)}; by default"
    f" {', '.join(DEFAULT_COLUMNS)}, and the time if it was measured.",
)
def _summary(target: str, mode: Mode, depth: int, columns: str | None, **given: str | None) -> None:
    """Print a table of a model's modules with shapes, parameters and FLOPs.

    TARGET is the model, as for `trace`, or a graph file; `-` reads a graph from stdin. Equal modules in a row are one
    line (`layers.0–11`, ×12) with the numbers of one of them.
    """
    names = None if columns is None else cast("list[Column]", [name.strip() for name in columns.split(",")])
    with errors():
        check_table(depth, names or ())
        if target == str(STDIO) or is_graph_file(target):
            for name in given_options(given):
                reason = f"{target} is a graph file, so there is nothing to call; remove this option"
                raise Failed(f"option `{name}`: {reason}")
            graph = loaded(Path(target))
        else:
            graph = traced(target, mode, given).graph
        echo(summary(graph, depth=depth, columns=names))
    exit_if_partial(target, graph)


main.add_command(diff_command)
main.add_command(history_command)
main.add_command(check_command)
main.add_command(watch_command)


@main.command("snapshot")
@click.argument("source", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--prune", is_flag=True, help="Remove graphs that no page uses any longer.")
def _snapshot(source: Path, *, prune: bool) -> None:
    """Trace every model that a documentation shows, and write the graphs.

    SOURCE is the folder of conf.py (Sphinx) or mkdocs.yml (MkDocs). The graphs go into the folder `model-graphs` in
    it. Commit them, and the documentation builds without PyTorch.
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

    given: dict[str, str]
    flat: bool
    theme: Theme | None

    def check(self, output: Path) -> None:
        """Reject what can't be drawn, before anything takes time."""
        check_format(_file_name(output), flat=self.flat, theme=self.theme, view=self.given, option="-o")
        parse_view(self._split()[0])
        self._recording_files()

    def draw(self, graph: Graph, output: Path, make: Make = without_model, sources: tuple[str, ...] = ()) -> None:
        """Write a file, or an SVG to stdout."""
        if output == STDIO:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / _file_name(output)
                self._write(graph, file, make, sources)
                click.echo(file.read_bytes(), nl=False)
        else:
            self._write(graph, output, make, sources)

    def _write(self, graph: Graph, file: Path, make: Make, sources: tuple[str, ...]) -> None:
        view, author = self._split()
        said = annotations_by_options(graph, author, make, sources if file.suffix in DRAWN else ())
        recordings = read_recordings(graph, named_files(self._recording_files()))
        unmatched = write(
            graph, file, view, flat=self.flat, theme=self.theme, overlay=said.overlay, recordings=recordings
        )
        for problem in [*([unmatched.error(graph)] if unmatched else []), *said.problems]:
            echo(f"Warning: {problem}", err=True)

    def _split(self) -> tuple[dict[str, str], dict[str, str]]:
        """The options of the view, and those that speak of nodes."""
        author = {name: text for name, text in self.given.items() if name in option_names(Author)}
        others = {*author, "recording"}
        return {name: text for name, text in self.given.items() if name not in others}, author

    def _recording_files(self) -> list[str] | None:
        given = self.given.get("recording")
        return None if given is None else parse_option("recording", given)


def _file_name(output: Path) -> str:
    return "picture.svg" if output == STDIO else output.name
