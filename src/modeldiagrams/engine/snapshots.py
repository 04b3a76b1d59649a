"""Snapshots: graphs committed with the documentation, for builds without torch, for example on Read the Docs.

A build without torch uses the snapshot of a model. A build with torch traces the model and reports a different
snapshot. ``modeldiagrams snapshot`` writes snapshots by running the documentation's own builder, which knows the models
of all pages, with an environment variable that makes it keep traced graphs. A graph that is less complete than its
snapshot doesn't replace it, unless the author accepts that.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.common.files import GRAPHS, write_atomically
from modeldiagrams.engine.executors import run_builder
from modeldiagrams.errors import GraphError, ModelDiagramsError
from modeldiagrams.ir.serialize import deserialize, save
from modeldiagrams.ir.structure import holds_less, structural_digest
from modeldiagrams.options.settings import SNAPSHOTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    from modeldiagrams.ir.graph import Graph

__all__ = ["SnapshotReport", "Snapshots", "take_snapshots"]

_REPORT = "MODELDIAGRAMS_SNAPSHOT_REPORT"
"""Environment variable with the file to which a build reports its snapshots; if set, the build writes them."""
_INTO = "MODELDIAGRAMS_SNAPSHOTS_INTO"
"""Environment variable with a folder to write them to, instead of the documentation's."""
_ACCEPT = "MODELDIAGRAMS_SNAPSHOTS_ACCEPT"
"""Environment variable; if set, less complete graphs replace more complete ones."""


class SnapshotReport(msgspec.Struct, frozen=True, kw_only=True):
    """The snapshots of a documentation's models."""

    folder: Path
    """The folder of snapshots."""
    written: tuple[Path, ...]
    """New snapshots, and those whose structure changed."""
    unchanged: tuple[Path, ...]
    less: tuple[Path, ...]
    """Snapshots kept because the new graphs are less complete."""
    missing: tuple[Path, ...]
    """Snapshots of models that could not be traced; older ones are kept."""
    read: tuple[Path, ...]
    """Graph files that pages name themselves, in any folder."""
    stale: tuple[Path, ...]
    """Graphs, and lists of models, in the folder that no page mentions."""


class Snapshots:
    """A folder of graph files, named by diagrams' ids.

    Attributes:
        folder: Its path.
        writes: Whether this build writes snapshots.
        compressed: Names of new snapshots to compress.
    """

    def __init__(self, folder: Path, describe: Callable[[Graph, Graph], str] = lambda *_: "") -> None:
        """Prepare; `describe` describes the changes between two graphs."""
        self.folder = folder
        self._describe = describe
        self._report = os.environ.get(_REPORT)
        self._into = Path(os.environ.get(_INTO, folder))
        self.writes = bool(self._report)
        self.compressed = set[str]()
        self._said: set[str] = set()
        self._note("folder", folder.absolute())

    def path(self, name: str) -> Path:
        """Return the file of a diagram's snapshot, whether it exists or not; those of catalogues are compressed."""
        usual, other = GRAPHS[::-1] if name in self.compressed else GRAPHS
        is_other = (self.folder / f"{name}{other}").is_file() and not (self.folder / f"{name}{usual}").is_file()
        return self.folder / f"{name}{other if is_other else usual}"

    def note_mention(self, path: Path, *, traced: bool) -> None:
        """Report that a page shows a graph.

        Args:
            path: The absolute path of its file.
            traced: True for the snapshot of a model, False for a graph file that the page names.
        """
        self._note("wanted" if traced else "read", path)

    def note_left_out(self, path: Path) -> None:
        """Report that a page leaves out a model, because it can't be called without its author's help."""
        self._note("left-out", path)

    def compare(self, name: str, graph: Graph) -> str | None:
        """Write the snapshot if this build writes snapshots, or else compare it with the graph.

        Args:
            name: The id of the diagram.
            graph: The graph traced in this build.

        Returns:
            What is wrong with the snapshot, in one sentence; None if there is none, if it is up to date, or if the same
            was reported for another diagram.
        """
        path = self.path(name)
        if self._report:
            self._note(_update(self._into / path.name, graph, accepts=_ACCEPT in os.environ), path.absolute())
            return None
        drift = self._drift(path, graph)
        if drift is None or drift in self._said:
            return None
        self._said.add(drift)
        return drift

    def list_path(self, name: str) -> Path:
        """Return the file with the names of a catalogue's models, whether it exists or not."""
        return self.folder / f"{name}.models.txt"

    def compare_list(self, name: str, models: Sequence[str]) -> str | None:
        """Like `compare`, for the names of the models of a catalogue."""
        path = self.list_path(name)
        content = "".join(f"{model}\n" for model in models)
        if self._report:
            file = self._into / path.name
            is_same = file.is_file() and file.read_text("utf-8") == content
            if not is_same:
                write_atomically(file, content.encode())
            self._note("unchanged" if is_same else "written", path.absolute())
            return None
        kept = path.read_text("utf-8").split() if path.is_file() else models
        changed = {"new": sorted({*models} - {*kept}), "gone": sorted({*kept} - {*models})}
        told = "; ".join(f"{what}: {_enumerate(names)}" for what, names in changed.items() if names)
        return f"the list {self.folder.name}/{path.name} no longer matches ({told}); {_FIX}" if told else None

    def _drift(self, path: Path, graph: Graph) -> str | None:
        try:
            kept = deserialize(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ModelDiagramsError) as error:
            return f"the snapshot {self.folder.name}/{path.name} can't be read ({error}); {_FIX}"
        if structural_digest(kept) == structural_digest(graph):
            return None
        changes = self._describe(kept, graph)
        reason = f" ({changes})" if changes else ""
        return f"the snapshot {self.folder.name}/{path.name} no longer matches the model{reason}; {_FIX}"

    def _note(self, what: str, path: Path) -> None:
        if self._report:
            # builders may run in several processes: one write per line
            with Path(self._report).open("a", encoding="utf-8") as report:
                report.write(f"{what} {path}\n")


def _update(path: Path, graph: Graph, *, accepts: bool = False) -> str:
    """Write a snapshot, unless only source lines, versions or times differ, which would be noise in version control.

    Args:
        path: The file.
        graph: The graph traced in this build.
        accepts: Whether to write it even if its pass ended early, or if it is less complete than before.

    Returns:
        The result, as in the report.
    """
    try:
        kept = deserialize(path.read_bytes())
    except (OSError, ModelDiagramsError):
        kept = None
    if kept and _is_same(kept, graph):
        return "unchanged"
    if kept and not accepts and holds_less(graph, kept):
        return "less"
    if graph.status.error is not None and not accepts:
        return "partial"
    save(graph, path)
    return "written"


def _is_same(kept: Graph, graph: Graph) -> bool:
    # measured values differ from run to run, or from processor to processor
    has_same_measures = _is_measured(kept) == _is_measured(graph)
    return has_same_measures and structural_digest(kept) == structural_digest(graph) and _names(kept) == _names(graph)


def _is_measured(graph: Graph) -> tuple[bool, bool]:
    return graph.model.time_ns is not None, graph.samples is not None


def _names(graph: Graph) -> Any:
    """Names of sizes and their expressions, without messages, which contain source lines."""
    named = graph.sizes
    if named is None:
        return None
    sizes = {
        name: msgspec.structs.replace(size, fixed=str(bool(size.fixed)), limit="") for name, size in named.sizes.items()
    }
    return msgspec.structs.replace(named, sizes=sizes, unknown=dict.fromkeys(named.unknown, ""), notes=(), mistake="")


def _enumerate(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


_FIX = "run `modeldiagrams snapshot` and commit the result"


def take_snapshots(  # noqa: PLR0913  (what to write, and where models run)
    source: Path,
    *,
    prune: bool = False,
    accept: bool = False,
    into: Path | None = None,
    executor: str | Executor | None = None,
    jobs: int | None = None,
) -> SnapshotReport:
    """Build documentation into a temporary folder, and keep the graphs of its models.

    Args:
        source: The folder of ``conf.py`` or ``mkdocs.yml``.
        prune: Whether to remove graphs from the folder of snapshots that no page mentions.
        accept: Whether less complete graphs replace more complete ones.
        into: A folder to write them to, under the same names, instead of the documentation's.
        executor: Where the models run; None for this machine.
        jobs: How many run at a time.

    Returns:
        The written snapshots, and the others.

    Raises:
        ModelDiagramsError: if the folder has no documentation, or builder or executor fails.
    """
    with tempfile.TemporaryDirectory() as temporary:
        report = Path(temporary) / "report"
        report.touch()
        command = [sys.executable, "-m", *_make_builder(source, temporary)]
        environment = {**os.environ, _REPORT: str(report)}
        environment |= ({_INTO: str(into.absolute())} if into else {}) | ({_ACCEPT: "1"} if accept else {})
        if status := run_builder(command, environment, executor, jobs):
            raise ModelDiagramsError(f"the documentation build failed with exit status {status}; see above")
        result = _read_report(report.read_text("utf-8"), source / SNAPSHOTS)
    if prune:
        for path in result.stale:
            path.unlink()
    return result


def _read_report(report: str, folder: Path) -> SnapshotReport:
    """Read a builder's report.

    Args:
        report: The report.
        folder: The folder of snapshots, in case the builder built no diagram and reported none.
    """
    noted: dict[str, dict[Path, None]] = {}
    for line in report.splitlines():
        what, _, path = line.partition(" ")
        noted.setdefault(what, {})[Path(os.path.normpath(path))] = None
    written, unchanged, less, wanted = (noted.get(what, {}) for what in ("written", "unchanged", "less", "wanted"))
    kept = written | unchanged | less
    wanted = {path: None for path in wanted if path in kept or path not in noted.get("left-out", {})}
    mentioned = wanted | noted.get("read", {})
    searched = [*noted.get("folder", {folder: None})]
    files = sorted(file for each in searched for end in (*GRAPHS, ".models.txt") for file in each.glob(f"*{end}"))
    return SnapshotReport(
        folder=searched[0],
        written=tuple(written),
        unchanged=tuple(path for path in unchanged if path not in written),  # two pages may show a graph
        less=tuple(less),
        missing=tuple(path for path in wanted if path not in kept),
        read=tuple(noted.get("read", {})),
        stale=tuple(file for file in files if file not in mentioned and (file.suffix == ".txt" or _is_graph(file))),
    )


def _is_graph(file: Path) -> bool:
    try:
        deserialize(file.read_bytes())
    except (OSError, GraphError):
        return False
    return True


def _make_builder(source: Path, temporary: str) -> list[str]:
    if (source / "conf.py").is_file():
        return ["sphinx", "-b", "dummy", "-d", f"{temporary}/doctrees", str(source), f"{temporary}/out"]
    if (source / "mkdocs.yml").is_file():
        return ["mkdocs", "build", "-f", str(source / "mkdocs.yml"), "-d", f"{temporary}/site"]
    raise ModelDiagramsError(f"expected the folder of a conf.py (Sphinx) or a mkdocs.yml (MkDocs), got {source}")
