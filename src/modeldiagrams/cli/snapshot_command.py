"""The command `snapshot`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from modeldiagrams.api.terminal import PARTIAL, report_errors
from modeldiagrams.engine.snapshots import take_snapshots

__all__ = ["snapshot_command"]


@click.command("snapshot")
@click.argument("source", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--prune", is_flag=True, help="Remove graphs that no page uses any longer.")
@click.option(
    "--accept",
    is_flag=True,
    help="Also write graphs that are less complete than before: of a pass that ended early, or of modules only.",
)
@click.option(
    "--jobs", metavar="N", type=click.IntRange(min=1), help="How many models run at a time; by default one per core."
)
@click.option(
    "--executor",
    metavar="dask://HOST:PORT",
    help="Run the models on a Dask cluster; `--jobs` then says how many it gets at a time, 100 by default.",
)
def snapshot_command(source: Path, *, prune: bool, accept: bool, jobs: int | None, executor: str | None) -> None:
    """Trace every model that a documentation shows, and write the graphs.

    SOURCE is the folder of conf.py (Sphinx) or mkdocs.yml (MkDocs). The graphs go into the folder `model-graphs` in
    it. Commit them, and the documentation builds without PyTorch.
    """
    start = time.monotonic()
    with report_errors():
        report = take_snapshots(source, prune=prune, accept=accept, executor=executor, jobs=jobs)
    for path in report.written:
        click.echo(path)
    written, seconds = len(report.written), time.monotonic() - start
    click.echo(
        f"{written} graph{'s'[: written != 1]} written, {len(report.unchanged)} unchanged, {seconds:.1f} s", err=True
    )
    for path in report.stale:
        click.echo(f"{path}: no page uses it; {'removed' if prune else '--prune removes it'}", err=True)
    for path in report.less:
        click.echo(f"Warning: {path} was kept: the new graph is less complete; --accept writes it", err=True)
    for path in report.missing:
        reason = "its models could not be listed" if path.suffix == ".txt" else "its model could not be traced"
        click.echo(f"Warning: {path} was not written, because {reason}; see above", err=True)
    if report.missing or report.less:
        sys.exit(PARTIAL)
