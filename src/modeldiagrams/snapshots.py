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

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.serialize import deserialize, save

if TYPE_CHECKING:
    from modeldiagrams.graph import Graph

__all__ = ["FOLDER", "Snapshots", "take_snapshots"]

FOLDER = "model-graphs"
"""The folder of snapshots, beside ``conf.py`` or ``mkdocs.yml``, if a site's configuration names no other."""

_REPORT = "MODELDIAGRAMS_SNAPSHOT_REPORT"
"""Names the file that gets the path of each snapshot; its being there is what makes a build write them."""


class Snapshots:
    """A folder of graph files, named by diagrams' ids."""

    def __init__(self, folder: Path) -> None:
        """Neither read nor make anything yet."""
        self._folder = folder
        self._report = os.environ.get(_REPORT)

    def path(self, name: str) -> Path:
        """Where a diagram's snapshot is, or would be."""
        return self._folder / f"{name}.json"

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
                with Path(self._report).open("a", encoding="utf-8") as report:
                    report.write(f"{path}\n")
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


_MEND = "run `modeldiagrams snapshot` and commit the result"


def take_snapshots(source: Path) -> list[Path]:
    """Build documentation into nowhere, and keep the graphs of its models.

    Args:
        source: The folder of ``conf.py`` or ``mkdocs.yml``.

    Returns:
        The files that were written.

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
        return [Path(line) for line in dict.fromkeys(report.read_text("utf-8").splitlines())]


def _builder(source: Path, nowhere: str) -> list[str]:
    if (source / "conf.py").is_file():
        return ["sphinx", "-q", "-b", "dummy", "-d", f"{nowhere}/doctrees", str(source), f"{nowhere}/out"]
    if (source / "mkdocs.yml").is_file():
        return ["mkdocs", "build", "-f", str(source / "mkdocs.yml"), "-d", f"{nowhere}/site"]
    raise ModelDiagramsError(f"expected the folder of a conf.py (Sphinx) or a mkdocs.yml (MkDocs), got {source}")
