"""The command `readme`."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modeldiagrams.api.readme.files import get_graph, list_dropped, write_updates
from modeldiagrams.api.readme.update import update_readme
from modeldiagrams.api.terminal import CommandError, echo, report_errors, show_progress

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Graph

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
                updates[file] = update_readme(file, partial(get_graph, file, graphs), into, base_url, link)
            if not updates[file].shown:
                echo(f"{file}: nothing to draw, because it has no mark `<!-- model-graph: mypkg.Model -->`", err=True)
        changes = [line for update in updates.values() for line in update.changes]
        dropped = list_dropped(updates)
        for line in (line for update in updates.values() for line in update.problems):
            echo(f"Warning: {line}", err=True)
        if not check:
            for line in write_updates(updates.values(), dropped):
                echo(line, err=True)
    if check and (changes or dropped):
        for line in [*changes, *(f"{path}: no longer shown" for path in dropped)]:
            echo(line)
        options = {"--into": into, "--base-url": base_url, "--link": link}
        words = [*map(str, files), *(word for option, value in options.items() if value for word in (option, value))]
        echo(f"Run `modeldiagrams readme {shlex.join(words)}`, and commit the result.", err=True)
        sys.exit(1)
    sys.exit(int(any(update.problems for update in updates.values())))
