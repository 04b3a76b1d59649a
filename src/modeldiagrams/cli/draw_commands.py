"""The commands `render` and `show`."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

import click

from modeldiagrams.api.export import Theme, check_format, write
from modeldiagrams.api.graph_files import is_worse, load_graph_file
from modeldiagrams.api.terminal import STDIO, echo, exit_if_partial, report, report_errors, show_progress
from modeldiagrams.cli.flags import FORCE, GRAPH_FILE, option_flags, trace_flags
from modeldiagrams.cli.targets import drop_missing, trace_model
from modeldiagrams.engine.annotations import annotations_of, check_numbers
from modeldiagrams.engine.recordings import list_named_files, read_recordings
from modeldiagrams.options.options import Author, View
from modeldiagrams.options.parsing import collect_help, list_options, parse_option, parse_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.ir.graph import Graph

__all__ = ["render_command", "show_command"]

_DRAWN = (
    "The file to write: .svg, .png, .pdf, .html (interactive), .dot (Graphviz) or .mmd (Mermaid); `-` writes an SVG to"
    " stdout."
)


def _draw_options(command: Callable[..., None]) -> Callable[..., None]:
    for_drawing = "SVG for drawing programs and books: no style sheet, text as outlines."
    colours = "Colours of .png, .pdf and flat .svg files; light by default."
    flat = click.option("--flat", is_flag=True, help=for_drawing)
    theme = click.option("--theme", type=click.Choice(get_args(Theme)), help=colours)
    recording = click.option("--recording", metavar="YAML", help=f"{collect_help()['recording']} For .html files.")
    return option_flags(View, Author)(recording(flat(theme(command))))


@click.command("render")
@click.argument("graph", type=GRAPH_FILE)
@_draw_options
@click.option("-o", "--output", required=True, type=GRAPH_FILE, help=_DRAWN)
def render_command(graph: Path, output: Path, *, flat: bool, theme: Theme | None, **view: str | None) -> None:
    """Draw a graph file; `-` reads the graph from stdin."""
    with report_errors(), report(output) as say:
        look = _Drawing(drop_missing(view), flat, theme)
        look.check(output)
        read = load_graph_file(graph)  # stdin may wait for another command to trace a model
        with show_progress(f"drawing {read.model.name}"):
            look.draw(read, output)
        say(read)


@click.command("show")
@click.argument("target")
@trace_flags
@_draw_options
@click.option("-o", "--output", type=GRAPH_FILE, help=f"{_DRAWN} By default, the model's name with .html.")
@FORCE
def show_command(
    target: str, output: Path | None, *, flat: bool, theme: Theme | None, force: bool, **given: str | None
) -> None:
    """Run a model once and draw it: `trace` and `render` in one step.

    TARGET is the model, as for `trace`. Without -o, the interactive page's path is printed.
    """
    with report_errors(), report(output) as say:
        look = _Drawing(
            drop_missing({name: given.pop(name) for name in (*list_options(View, Author), "recording")}), flat, theme
        )
        look.check(output or Path("page.html"))
        # `values: sample` is about the pass, too
        graph = trace_model(target, {**given, "values": look.given.get("values")}).graph
        path = output or Path(re.sub(r"[^\w.-]+", "-", f"{graph.model.name}.html"))
        if force or not is_worse(graph, path):
            with show_progress(f"drawing {graph.model.name}"):
                look.draw(graph, path)
            say(graph, path)
        if output is None:
            echo(path)
    exit_if_partial(target, graph)


class _Drawing(NamedTuple):
    """The options for drawing a graph."""

    given: dict[str, str]
    flat: bool
    theme: Theme | None

    def check(self, output: Path) -> None:
        """Check the options before anything takes time."""
        check_format(_make_file_name(output), flat=self.flat, theme=self.theme, view=self.given, option="-o")
        view, author = self._split()
        parse_view(view)
        if "values" in author:
            check_numbers(parse_option("values", author["values"]))
        self._recording_files()

    def draw(self, graph: Graph, output: Path) -> None:
        """Draw a graph to a file, or as SVG to stdout."""
        if output == STDIO:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / _make_file_name(output)
                self._write(graph, file)
                click.echo(file.read_bytes(), nl=False)
        else:
            self._write(graph, output)

    def _write(self, graph: Graph, file: Path) -> None:
        view, author = self._split()
        said = annotations_of(graph, {name: parse_option(name, text) for name, text in author.items()}, Path.cwd())
        recordings = read_recordings(graph, list_named_files(self._recording_files()))
        unmatched = write(
            graph, file, view, flat=self.flat, theme=self.theme, overlay=said.overlay, recordings=recordings
        )
        for problem in [*([unmatched.error(graph)] if unmatched else []), *said.problems]:
            echo(f"Warning: {problem}", err=True)

    def _split(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the options of the view, and those that annotate nodes."""
        author = {name: text for name, text in self.given.items() if name in list_options(Author)}
        others = {*author, "recording"}
        return {name: text for name, text in self.given.items() if name not in others}, author

    def _recording_files(self) -> list[str] | None:
        given = self.given.get("recording")
        return None if given is None else parse_option("recording", given)


def _make_file_name(output: Path) -> str:
    return "picture.svg" if output == STDIO else output.name
