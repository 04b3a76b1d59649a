"""The command `watch`."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modeldiagrams.api.graph_files import load_graph_file
from modeldiagrams.api.terminal import echo, report_errors, show_progress
from modeldiagrams.cli.targets import trace_model
from modeldiagrams.engine.recorded_modules import match_modules
from modeldiagrams.options.options import is_graph_file

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Graph

__all__ = ["watch_command"]

_MOST_PORTS = 65535
_MODEL = (
    "The model that is trained, as for `trace`, or a graph file of it. Without it, the page shows the modules of the"
    " recording, but no data flow."
)
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("watch")
@click.argument("recordings", metavar="RECORDING...", nargs=-1, required=True, type=_FILE)
@click.option("--model", metavar="TARGET", help=_MODEL)
@click.option("--inputs", metavar="YAML", help="Example inputs of the model, as for `trace`.")
@click.option(
    "--port", default=0, type=click.IntRange(0, _MOST_PORTS), help="Port of the page; by default any free one."
)
@click.option("--no-browser", is_flag=True, help="Print the address of the page without opening it.")
def watch_command(
    recordings: tuple[Path, ...], model: str | None, inputs: str | None, port: int, *, no_browser: bool
) -> None:
    """Follow a training in the browser, or several trainings of one model side by side.

    RECORDING is the file that `modeldiagrams.watch` writes, run.mdwatch. The command only reads it: the training
    neither waits for it nor ends with it. Only this machine can open the page, unless `ssh -L
    PORT:127.0.0.1:PORT` forwards it.
    """
    from modeldiagrams.api.live.server import LiveServer  # noqa: PLC0415  (asyncio, which no other command needs)

    with report_errors():
        graph = _load_or_trace(recordings[0], model, inputs)
        with show_progress(f"drawing {graph.model.name}"):
            server = LiveServer(recordings, graph, port)
        with server:
            echo(server.url)
            if not no_browser:
                webbrowser.open(server.url)
            server.run()


def _load_or_trace(recording: Path, model: str | None, inputs: str | None) -> Graph:
    modules = match_modules(recording)  # also checks the file, before a trace takes its time
    if model is None:
        return modules
    if is_graph_file(model):
        return load_graph_file(Path(model))
    return trace_model(model, {"inputs": inputs}).graph
