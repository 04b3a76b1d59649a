"""Traces the models of a documentation from Python, on any executor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.engine.snapshots import take_snapshots

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from modeldiagrams.engine.snapshots import SnapshotReport

__all__ = ["snapshot"]


def snapshot(
    source: str | Path = ".",
    *,
    executor: str | Executor | None = None,
    jobs: int | None = None,
    prune: bool = False,
    accept: bool = False,
) -> SnapshotReport:
    """Trace every model that a documentation shows, and write the graphs, like the command ``modeldiagrams snapshot``.

    Each model runs in its own process with its limits, wherever the executor runs it, and gives the same bytes. After a
    failure, what was traced is kept, and another call does the rest.

    Args:
        source: The folder of ``conf.py`` (Sphinx) or ``mkdocs.yml`` (MkDocs).
        executor: Where the models run: an executor of `concurrent.futures`, or of another library with such a
            ``submit``, or the address of a Dask scheduler, ``"dask://HOST:PORT"``; by default on this machine.
        jobs: How many models run at a time, by default one per core. An executor gets 100 at a time by default, and
            may let them wait.
        prune: Whether to remove graphs that no page uses any longer.
        accept: Whether less complete graphs replace more complete ones.

    Returns:
        What was written, and what was not.

    Raises:
        ModelDiagramsError: If the folder has no documentation, or if its builder or the executor fails.
    """
    return take_snapshots(Path(source), executor=executor, jobs=jobs, prune=prune, accept=accept)
