"""The commands `diff`, `check` and `history`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from modeldiagrams.api.difference_pictures import DrawnComparison
from modeldiagrams.api.terminal import echo, report_errors
from modeldiagrams.cli.targets import trace_model
from modeldiagrams.engine.compare.documentation import check
from modeldiagrams.engine.compare.history import find_history, read_committed_graph
from modeldiagrams.engine.compare.sides import graph_of
from modeldiagrams.engine.compare.versions import complete_side
from modeldiagrams.options.options import is_graph_file
from modeldiagrams.options.settings import SNAPSHOTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.engine.compare.difference import Difference
    from modeldiagrams.engine.compare.documentation import Check

__all__ = ["check_command", "diff_command", "history_command"]

_FailOn = Literal["none", "any", "notable", "breaking"]

_TEXTS = ("text", "markdown", "json")
_DETAILS = click.option("--details", is_flag=True, help="Also list changes that have no effect on results.")


def _format(*forms: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option("--format", "form", default="text", type=click.Choice(forms), help="What to print.")


def _exit_by_level(default: _FailOn) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        "--fail-on",
        default=default,
        show_default=True,
        type=click.Choice(["none", "any", "notable", "breaking"]),
        help="Exit with 1 if there is a change of this level, or of a more serious one.",
    )


@click.command("diff")
@click.argument("before")
@click.argument("after")
@_format(*_TEXTS, "html", "svg")
@_exit_by_level("none")
@_DETAILS
def diff_command(before: str, after: str, form: str, fail_on: _FailOn, *, details: bool) -> None:
    """List what changed between two versions of a model, and whether saved weights still load.

    BEFORE and AFTER are graph files, models as for `trace`, `git:REV:path` of a committed graph file, or addresses of
    graph files (https://…); `-` reads one from stdin. A git revision (v1.0) stands for the graph that `snapshot` wrote
    there for the model on the other side.
    """
    with report_errors():
        sides = (complete_side(before, after, SNAPSHOTS), complete_side(after, before, SNAPSHOTS))
        graphs = [graph_of(side, lambda target: trace_model(target, {}).graph) for side in sides]
        compared = DrawnComparison(*graphs, details=details)
        found = compared.difference
        drawn = {"html": compared.to_html, "svg": compared.to_svg}
        echo(drawn[form]() if form in drawn else _format_text(found, form, details=details))
    # with other inputs or another mode, changes may be missed
    _exit(found, fail_on, is_sure=fail_on == "none" or not found.reservations)


@click.command("check")
@click.argument("source", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--against",
    metavar="REV|URL|FOLDER",
    help="Compare with the graphs of a git revision, of another version's site (https://…), or in a folder, instead of"
    " those of the documentation.",
)
@_format(*_TEXTS)
@_exit_by_level("any")
@_DETAILS
def check_command(source: Path, against: str | None, form: str, fail_on: _FailOn, *, details: bool) -> None:
    """List the models of a documentation that no longer match their committed graphs.

    SOURCE is the folder of conf.py (Sphinx) or mkdocs.yml (MkDocs). Every model that its pages show is traced and
    compared with the graph that `snapshot` wrote. No file is changed. The exit status is 2 if a model can't be traced
    or compared.
    """
    with report_errors():
        found = check(source, against)
        echo(_format_text(found, form, details=details))
    _exit(found, fail_on, is_sure=found.is_sure)


@click.command("history")
@click.argument("model")
@click.argument("source", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--since", metavar="REV", help="Leave out tags that don't contain this git revision.")
@_format(*_TEXTS)
def history_command(model: str, source: Path, since: str | None, form: str) -> None:
    """Show how a model changed from release to release, by its committed graph in each git tag.

    MODEL is a graph file, or a model whose graph `snapshot` wrote for the documentation in SOURCE. Only tags that lead
    to the current commit count, in the order of their dates.
    """
    with report_errors():
        file = Path(model) if is_graph_file(model) else read_committed_graph(model, source / SNAPSHOTS)
        found = find_history(file, since)
        echo({"json": found.to_json, "markdown": found.to_markdown}.get(form, found.to_text)())


def _format_text(found: Difference | Check, form: str, *, details: bool) -> str:
    if form == "json":
        return found.to_json()
    return found.to_markdown(details=details) if form == "markdown" else found.to_text(details=details)


def _exit(found: Difference | Check, fail_on: _FailOn, *, is_sure: bool) -> None:
    is_reached = fail_on != "none" and found.reaches("detail" if fail_on == "any" else fail_on)
    sys.exit(1 if is_reached else 0 if is_sure else 2)
