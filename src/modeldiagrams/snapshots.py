"""Graphs that are committed beside the documentation, for builders that have no torch, such as Read the Docs.

A snapshot stands in for a trace where torch is not installed. Where it is, models are traced as ever, and a snapshot
that says something else is reported. ``modeldiagrams snapshot`` writes them: it lets the documentation's own builder
run, which knows what the pages mention, and tells it by an environment variable to keep what it traces.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.errors import GraphError, ModelDiagramsError
from modeldiagrams.serialize import deserialize, save

if TYPE_CHECKING:
    from modeldiagrams.graph import Graph

__all__ = ["FOLDER", "Snapshots", "Taken", "take_snapshots"]

FOLDER = "model-graphs"
"""The folder of snapshots, beside ``conf.py`` or ``mkdocs.yml``, if a site's configuration names no other."""

_REPORT = "MODELDIAGRAMS_SNAPSHOT_REPORT"
"""Names the file that gets the path of each snapshot; its being there is what makes a build write them."""


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the graphs that documentation mentions."""

    written: tuple[Path, ...]
    missing: tuple[Path, ...]
    """Of models that could not be traced; an older graph in that place was left as it is."""
    stale: tuple[Path, ...]
    """Graphs in the folder that no page mentions any more."""


class Snapshots:
    """A folder of graph files, named by diagrams' ids."""

    def __init__(self, folder: Path) -> None:
        """Neither read nor make anything yet."""
        self._folder = folder
        self._report = os.environ.get(_REPORT)
        self._note("folder", folder.absolute())

    def path(self, name: str) -> Path:
        """Where a diagram's snapshot is, or would be."""
        return self._folder / f"{name}.json"

    def note_mention(self, path: Path, *, traced: bool) -> None:
        """A page needs this graph.

        Args:
            path: Absolute.
            traced: Whether a model is to be traced for it; or else the page names the file itself.
        """
        self._note("wanted" if traced else "read", path)

    def compare(self, name: str, graph: Graph) -> str | None:
        """Write the snapshot, if that is what is being done; or else compare the graph to it, if there is one.

        Args:
            name: Of the diagram.
            graph: As the model is now.

        Returns:
            What is wrong with the snapshot, in one sentence; None if nothing is.
        """
        path = self.path(name)
        if self._report:
            if graph.status.error is None:
                save(graph, path)
                self._note("written", path.absolute())
            return None
        try:
            kept = deserialize(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ModelDiagramsError) as error:
            return f"the snapshot {self._folder.name}/{path.name} can't be read ({error}); {_MEND}"
        # what it was traced with is no difference
        if msgspec.structs.replace(kept, provenance=graph.provenance) == graph:
            return None
        return f"the snapshot {self._folder.name}/{path.name} is not what the model does now; {_MEND}"

    def _note(self, what: str, path: Path) -> None:
        """Builders may run in several processes: a line is appended in one piece."""
        if self._report:
            with Path(self._report).open("a", encoding="utf-8") as report:
                report.write(f"{what} {path}\n")


_MEND = "run `modeldiagrams snapshot` and commit the result"


def take_snapshots(source: Path, *, prune: bool = False) -> Taken:
    """Build documentation into nowhere, and keep the graphs of its models.

    Args:
        source: The folder of ``conf.py`` or ``mkdocs.yml``.
        prune: Whether graphs that no page mentions any more are removed; only from the folder of snapshots, and only
            files that hold a graph.

    Returns:
        What was written and what was not.

    Raises:
        ModelDiagramsError: if there is no such documentation, or its builder fails.
    """
    with tempfile.TemporaryDirectory() as nowhere:
        report = Path(nowhere) / "report"
        report.touch()
        command = [sys.executable, "-m", *_builder(source, nowhere)]
        # the builder's messages are for whoever called us
        done = subprocess.run(command, check=False, env={**os.environ, _REPORT: str(report)})  # noqa: S603
        if done.returncode:
            raise ModelDiagramsError(f"the documentation's builder ended with exit status {done.returncode}; see above")
        taken = _read_report(report.read_text("utf-8"), source / FOLDER)
    if prune:
        for path in taken.stale:
            path.unlink()
    return taken


def _read_report(report: str, folder: Path) -> Taken:
    """Sort what a builder noted.

    Args:
        report: Its lines.
        folder: Where the graphs would be, if no diagram was made that could have told.
    """
    noted: dict[str, dict[Path, None]] = {}
    for line in report.splitlines():
        what, _, path = line.partition(" ")
        noted.setdefault(what, {})[Path(path)] = None
    written, wanted = noted.get("written", {}), noted.get("wanted", {})
    mentioned = wanted | noted.get("read", {})
    files = sorted(file for place in noted.get("folder", {folder: None}) for file in place.glob("*.json"))
    return Taken(
        written=tuple(written),
        missing=tuple(path for path in wanted if path not in written),
        stale=tuple(file for file in files if file not in mentioned and _is_graph(file)),
    )


def _is_graph(file: Path) -> bool:
    try:
        deserialize(file.read_bytes())
    except (OSError, GraphError):
        return False
    return True


def _builder(source: Path, nowhere: str) -> list[str]:
    if (source / "conf.py").is_file():
        return ["sphinx", "-q", "-b", "dummy", "-d", f"{nowhere}/doctrees", str(source), f"{nowhere}/out"]
    if (source / "mkdocs.yml").is_file():
        return ["mkdocs", "build", "-f", str(source / "mkdocs.yml"), "-d", f"{nowhere}/site"]
    raise ModelDiagramsError(f"expected the folder of a conf.py (Sphinx) or a mkdocs.yml (MkDocs), got {source}")
