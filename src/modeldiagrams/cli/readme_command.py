"""The command `readme`."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modeldiagrams.api.graph_files import load_graph_file
from modeldiagrams.api.readme.update import update_readme
from modeldiagrams.api.target_file import import_path
from modeldiagrams.api.terminal import CommandError, echo, report_errors, show_progress
from modeldiagrams.engine.single_trace import TracedModel, trace_once
from modeldiagrams.options.options import is_graph_file

if TYPE_CHECKING:
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
    help="Address to put before the pictures' paths, for pages where relative ones don't work, such as PyPI:"
    " `https://raw.githubusercontent.com/org/project/main/`.",
)
def readme_command(files: tuple[Path, ...], into: str, base_url: str, *, check: bool) -> None:
    """Fill the marked places of Markdown files with pictures of models.

    FILES are READMEs or model cards. Each place is between `<!-- model-graph: mypkg.Model depth=1 -->` and
    `<!-- /model-graph -->`. It gets a light and a dark SVG, written beside the file, and a text alternative. Models are
    traced as by `trace`, and imported from the current folder; a graph file is relative to the README.
    """
    with report_errors():
        graphs: dict[str, Graph] = {}
        updates = {}
        for file in files:
            with show_progress(f"drawing the pictures of {file}"):
                updates[file] = update_readme(file, partial(_get, file, graphs), into, base_url)
    for file, update in updates.items():
        if not update.marks:
            echo(f"{file}: nothing to draw, because it has no mark `<!-- model-graph: mypkg.Model -->`", err=True)
    outdated = [
        f"{path}: {'no longer shown' if path in update.outdated else 'out of date'}"
        for update in updates.values()
        for path in [*update.files, *update.outdated]
    ]
    if check:
        for line in outdated:
            echo(line)
        if outdated:
            echo(f"Run `modeldiagrams readme {' '.join(map(str, files))}`, and commit the result.", err=True)
        sys.exit(1 if outdated else 0)
    with report_errors():
        for update in updates.values():
            update.write()
    for line in outdated:
        echo(line.replace(": out of date", ": written").replace(": no longer shown", ": removed"), err=True)


def _get(readme: Path, graphs: dict[str, Graph], options: Options) -> Graph:
    """Read a graph file, or trace a model, equal ones once."""
    model = options.call.model
    key = f"{model} {options.call!r} {options.limits!r}"
    if key not in graphs:
        if is_graph_file(model):
            graphs[key] = load_graph_file(Path(os.path.relpath(readme.parent / model)))
        else:
            name, folders = import_path(model, Path.cwd())
            found = trace_once(options.called(name), folders)
            if not isinstance(found, TracedModel):
                raise CommandError(found)
            graphs[key] = found.graph
    return graphs[key]
