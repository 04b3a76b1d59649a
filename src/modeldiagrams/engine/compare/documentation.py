"""Compares every model of a documentation with its graph of another version."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from modeldiagrams.common.files import get_graph_name
from modeldiagrams.engine.compare.difference import Difference, difference_by
from modeldiagrams.engine.compare.sides import graph_of, refuse_model, relative
from modeldiagrams.engine.compare.texts import escape_markdown
from modeldiagrams.engine.compare.versions import list_graphs, list_kept_graphs
from modeldiagrams.engine.snapshots import take_snapshots
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.serialize import load
from modeldiagrams.render.draw import build_difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from modeldiagrams.engine.compare.change_list import Level
    from modeldiagrams.engine.compare.versions import Kept
    from modeldiagrams.ir.graph import Graph

__all__ = ["Check", "Compared", "check", "compare_model", "compare_with"]

Compare = Callable[[bytes, bytes], str]
State = Literal["same", "changed", "new", "gone", "failed"]

_WORDS = {
    "new": "new: there is no graph to compare with",
    "gone": "gone: no page shows it any longer",
}


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One compared model of a documentation."""

    name: str
    """The name of its graph file."""
    state: State
    problem: str = ""
    """Why it could not be compared, for ``failed``."""
    difference: Difference | None = None

    def reaches(self, level: Level) -> bool:
        """Whether there is a change of this level; new and removed models only count as ``detail``."""
        return level == "detail" if self.difference is None else self.difference.reaches(level)


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """All models of a documentation, by name."""

    format: Literal["modeldiagrams-check"] = "modeldiagrams-check"
    version: str = "1.0"
    models: tuple[Compared, ...]

    @property
    def is_sure(self) -> bool:
        """Whether all models could be compared, without reservations."""
        differences = [model.difference for model in self.models if model.difference]
        return not any(model.state == "failed" for model in self.models) and not any(
            found.reservations for found in differences
        )

    def reaches(self, level: Level) -> bool:
        """Whether any model has a change of this or a more serious level."""
        return any(model.reaches(level) for model in self.models if model.state not in {"same", "failed"})

    def to_json(self) -> str:
        """Encode as JSON in the format ``modeldiagrams-check``, with differences in the format of `diff`."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode()

    def to_text(self, *, details: bool = False) -> str:
        """Format as text for a terminal."""
        texts = [
            model.difference.to_text(details=details, title=model.name)
            if model.difference
            else f"{model.name}\n  {compare_model(model)}"
            for model in self.reported()
        ]
        return "\n\n".join([*texts, self.summary()])

    def to_markdown(self, *, details: bool = False) -> str:
        """Format as Markdown for a pull request."""
        texts = [
            model.difference.to_markdown(details=details, title=model.name)
            if model.difference
            else f"### {escape_markdown(model.name)}\n\n{escape_markdown(compare_model(model))}"
            for model in self.reported()
        ]
        return "\n\n".join([f"## Architectures: {self.summary()}", *texts])

    def reported(self) -> Iterator[Compared]:
        """Yield the models that changed."""
        return (model for model in self.models if model.state != "same")

    def summary(self) -> str:
        """Summarise how many models changed."""
        counts = {
            "changed": self._count("changed"),
            "new": self._count("new"),
            "gone": self._count("gone"),
            "not compared": self._count("failed"),
            "as before": self._count("same"),
        }
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "no models"

    def _count(self, state: State) -> int:
        return sum(model.state == state for model in self.models)


def check(source: Path, against: str | None = None) -> Check:
    """Trace every model of a documentation, and compare it with its graph of another version.

    Args:
        source: The folder of ``conf.py`` or ``mkdocs.yml``.
        against: A git revision, the address of a site, or a folder; None for the graphs of the documentation.

    Raises:
        ModelDiagramsError: if there is no documentation or no such version, or the builder fails.
    """
    with tempfile.TemporaryDirectory() as temporary:
        taken = take_snapshots(source, into=Path(temporary))
        done = (*taken.written, *taken.unchanged)
        now: dict[str, Callable[[], Graph]] = {
            get_graph_name(path): partial(load, Path(temporary) / path.name) for path in done
        }
        now |= {get_graph_name(path): _report_untraced for path in taken.missing}
        # graph files that pages name are shown without a model
        read = {get_graph_name(path) for path in taken.read if path.parent == taken.folder} - now.keys()
        kept = list_kept_graphs(against, taken.folder) if against else list_graphs(taken.folder)
        return compare_all([item for item in kept if read.isdisjoint(item.names)], now, taken.folder.parent)


def compare_with(version: str, folder: Path, compare: Compare) -> Check:
    """Compare the committed graphs of a documentation with those of another version.

    Args:
        version: A git revision, the address of a site, or a folder next to the graphs.
        folder: The folder of graphs.
        compare: As in `difference_by`.

    Raises:
        ModelDiagramsError: if one of the versions has no graphs.
    """
    beside = folder.parent / version
    kept = list_kept_graphs(str(beside) if beside.is_dir() else version, folder)
    now = [item for item in list_graphs(folder) if _is_graph(item, folder.parent)]
    if not now:
        raise ModelDiagramsError(
            f"{folder.name}: expected the graphs of this documentation; `modeldiagrams snapshot` writes them"
        )
    graphs = {item.names[0]: partial(graph_of, item.side, refuse_model) for item in now}
    return compare_all(kept, graphs, folder.parent, compare)


def compare_all(
    kept: Iterable[Kept], now: Mapping[str, Callable[[], Graph]], folder: Path, compare: Compare = build_difference
) -> Check:
    """Compare the graphs of two versions of a documentation.

    Args:
        kept: The graphs of the earlier version.
        now: Functions that load the graphs of this version, by name.
        folder: The folder that sides of `kept` are relative to.
        compare: As in `difference_by`.
    """
    by_name = {name: item for item in kept for name in item.names}

    def compared(name: str, kept: Kept | None, graph: Callable[[], Graph]) -> Compared:
        try:
            after = graph()
            if kept is None:
                return Compared(name=name, state="new")
            difference = difference_by(compare, graph_of(kept.side, refuse_model, folder), after)
        except ModelDiagramsError as error:
            return Compared(name=name, state="failed", problem=relative(error, folder))
        is_same = difference.same and not difference.reservations
        return Compared(name=name, state="same" if is_same else "changed", difference=None if is_same else difference)

    found = [compared(name, by_name.get(name), graph) for name, graph in now.items()]
    gone = {item.names[0]: item for item in kept if not now.keys() & set(item.names)}
    found += [Compared(name=name, state="gone") for name, item in gone.items() if _is_graph(item, folder)]
    return Check(models=tuple(sorted(found, key=lambda model: model.name)))


def _is_graph(item: Kept, folder: Path) -> bool:
    """Whether a JSON file in the folder is a graph."""
    try:
        graph_of(item.side, refuse_model, folder)
    except ModelDiagramsError:
        return False
    return True


def compare_model(model: Compared) -> str:
    """Explain why a model has no difference."""
    return f"not compared: {model.problem}" if model.state == "failed" else _WORDS[model.state]


def _report_untraced() -> Graph:
    raise ModelDiagramsError("its model could not be traced here; see above")
