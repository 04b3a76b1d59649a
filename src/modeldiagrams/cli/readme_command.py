"""The command `readme`."""

from __future__ import annotations

import os
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from modeldiagrams.api.graph_files import load_graph_file
from modeldiagrams.api.readme.update import update_readme
from modeldiagrams.api.target_file import import_path
from modeldiagrams.api.terminal import CommandError, echo, report_errors, show_progress
from modeldiagrams.common.files import write_atomically
from modeldiagrams.engine.single_trace import TracedModel, trace_once
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.options import is_graph_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.api.readme.update import ReadmeUpdate
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.options import Options

__all__ = ["readme_command"]


@click.command("readme")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--check", is_flag=True, help="Change nothing; exit with status 1 if a picture or text is out of date.")
@click.option("--into", default="", metavar="FOLDER", help="Folder for the pictures, relative to that of each file.")
@click.option(
    "--base-url",
    default="",
    metavar="URL",
    help="Address of the current folder, to put before the pictures' paths, for pages where relative ones don't work,"
    " such as PyPI: `https://raw.githubusercontent.com/org/project/main/`.",
)
@click.option(
    "--link",
    default="",
    metavar="URL",
    help="Where pictures without a link of their own lead; `{model}` stands for the model:"
    " `https://docs.example.org/models/{model}.html`.",
)
def readme_command(files: tuple[Path, ...], into: str, base_url: str, link: str, *, check: bool) -> None:
    """Fill the marked places of Markdown files with pictures of models.

    FILES are READMEs or model cards. Each place is between `<!-- model-graph: mypkg.Model depth=1 -->` and
    `<!-- /model-graph -->`. It gets a light and a dark SVG, written beside the file, and a text alternative. Models are
    traced as by `trace`, and imported from the current folder; a graph file is relative to the README.
    """
    with report_errors():
        if Path(into).is_absolute():
            raise CommandError(f"option `into`: expected a folder relative to each file's own, got {into!r}")
        graphs: dict[str, Graph] = {}
        updates = {}
        for file in files:
            with show_progress(f"drawing the pictures of {file}"):
                updates[file] = update_readme(file, partial(_get, file, graphs), into, base_url, link)
            if not updates[file].shown:
                echo(f"{file}: nothing to draw, because it has no mark `<!-- model-graph: mypkg.Model -->`", err=True)
        changes = [line for update in updates.values() for line in update.changes]
        dropped = _list_dropped(updates)
        for line in (line for update in updates.values() for line in update.problems):
            echo(f"Warning: {line}", err=True)
        if not check:
            for path, content in (item for update in updates.values() for item in update.files.items()):
                write_atomically(path, content)
                echo(f"{path}: written", err=True)
            for path in dropped:
                path.unlink()
                echo(f"{path}: removed", err=True)
    if check and (changes or dropped):
        for line in [*changes, *(f"{path}: no longer shown" for path in dropped)]:
            echo(line)
        options = {"--into": into, "--base-url": base_url, "--link": link}
        words = [*map(str, files), *(word for option, value in options.items() if value for word in (option, value))]
        echo(f"Run `modeldiagrams readme {shlex.join(words)}`, and commit the result.", err=True)
        sys.exit(1)
    sys.exit(int(any(update.problems for update in updates.values())))


def _list_dropped(updates: Mapping[Path, ReadmeUpdate]) -> list[Path]:
    """List the pictures that no README shows any longer: neither the given ones, nor others beside them."""
    kept = {path for update in updates.values() for path in update.shown}
    found = {path for update in updates.values() for path in update.dropped if path.is_file()} - kept
    others = {other for file in updates for other in file.parent.glob("*.md")} - updates.keys()
    texts = [other.read_text("utf-8", errors="replace") for other in others] if found else []
    return sorted(path for path in found if not any(quote(path.name) in text for text in texts))


def _get(readme: Path, graphs: dict[str, Graph], options: Options) -> Graph:
    """Read a graph file, or trace a model, equal ones once."""
    model = options.call.model
    is_file = is_graph_file(model)
    key = os.path.relpath(readme.parent / model) if is_file else f"{options.call!r} {options.limits!r}"
    if key not in graphs:
        if is_file:
            graphs[key] = load_graph_file(Path(key))
        else:
            name, folders = import_path(model, Path.cwd())
            found = trace_once(options.called(name), folders)
            if not isinstance(found, TracedModel):
                raise ModelDiagramsError(found.message)
            graphs[key] = found.graph
    return graphs[key]
