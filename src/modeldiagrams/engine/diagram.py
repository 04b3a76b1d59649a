"""A finished diagram and its problem."""

import msgspec

from modeldiagrams.engine.compare.difference import Difference
from modeldiagrams.engine.problems import name_file
from modeldiagrams.errors import GraphError, ModelDiagramsError, OptionError, RenderError, WorkerError
from modeldiagrams.ir.graph import Graph
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.options import Options
from modeldiagrams.overlay.overlay import Overlay
from modeldiagrams.render.draw import Authored, Beside, Earlier, Picture
from modeldiagrams.watching.page import PageRecording
from modeldiagrams.worker import Kind, Problem

__all__ = ["Comparison", "Diagram", "Kind", "Problem", "add_problem"]

_KINDS: dict[type[ModelDiagramsError], Kind] = {
    OptionError: "option",
    RenderError: "render",
    GraphError: "difference",
}
_FOR_AUTHORS = ("snapshot",)
"""Kinds of problems that don't affect the picture, so readers need not see them."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two versions of a model."""

    before: Graph
    after: Graph
    difference: Difference
    details: bool
    """Whether changes of level ``detail`` are shown."""

    @property
    def has_picture(self) -> bool:
        """Whether there is something to mark, unlike between two different architectures."""
        shown = (change for change in self.difference.changes if self.details or change.level != "detail")
        return self.difference.inventory is None and any(True for _ in shown)

    @property
    def earlier(self) -> Earlier:
        """The earlier version, for the picture of the later graph."""
        return Earlier(graph=serialize(self.before), details=self.details)


class Diagram(msgspec.Struct, frozen=True, kw_only=True):
    """A traced and drawn model, or a problem."""

    id: str
    """The name of the diagram's files; in one site, equal ids mean equal content."""
    options: Options
    snapshot: str = ""
    """The name of its snapshot, which diagrams of the same call share; "" for a graph file."""
    graph: Graph | None = None
    picture: Picture | None = None
    problem: Problem | None = None
    """There may also be a picture, of a pass up to the error."""
    sources: tuple[str, ...] = ()
    """Absolute files; the diagram is outdated when one of them changes."""
    libraries: tuple[str, ...] = ()
    """Distributions whose upgrade may change the diagram, apart from torch."""
    names: dict[str, tuple[str, ...]] = {}
    """Shorter names of classes, under which they may be documented."""

    own_names: tuple[str, ...] = ()
    """More names by which references find the diagram."""

    comparison: Comparison | None = None
    """Set instead of the graph if the picture shows what changed between two."""

    recordings: tuple[PageRecording, ...] = ()
    """Recordings of the model's trainings."""

    live: str = ""
    """URL of a stream of recordings, on a page that follows a training."""

    overlay: Overlay | None = None
    """The annotations of nodes."""

    source_link: str | None = None
    """URL templates of its code if the site links to it, see `modeldiagrams.hosting.source_links`."""

    code: dict[str, tuple[str, ...]] = {}
    """Lines of code by source location, for readers who zoom in; only of linked code."""

    place: int = 0
    """Its number among the diagrams with the same id on its page, from 0."""

    @property
    def anchor(self) -> str:
        """Its id on its page, also the prefix of ids of its notes and steps."""
        return self.options.figure.name or (f"{self.id}-{self.place + 1}" if self.place else self.id)

    @property
    def beside(self) -> Beside | None:
        """Content of the picture in addition to the graph."""
        if self.comparison:
            return self.comparison.earlier
        overlay = self.overlay.without_texts().to_json() if self.overlay else None
        steps = self.options.tour.steps or ()
        return Authored(overlay=overlay, steps=tuple(steps)) if overlay or steps else None

    @property
    def shown_problem(self) -> Problem | None:
        """The problem that the page shows; others are only reported to authors."""
        return None if self.problem and self.problem.kind in _FOR_AUTHORS else self.problem


def add_problem(diagram: Diagram, error: ModelDiagramsError) -> Diagram:
    """Add an error of options, drawing or comparing to a diagram as its problem."""
    kind: Kind = _KINDS.get(type(error), "worker")
    problem = Problem(kind=kind, message=str(error), frames=error.frames if isinstance(error, WorkerError) else ())
    problem = name_file(diagram.options.call.model, problem)
    if diagram.problem:  # what the model raised comes first
        problem = _join(diagram.problem, problem, str(error))
    return msgspec.structs.replace(diagram, problem=problem)


def _join(first: Problem, second: Problem, text: str) -> Problem:
    """Join two problems; readers only see the one that isn't just for authors."""
    if (first.kind in _FOR_AUTHORS) == (second.kind in _FOR_AUTHORS):
        return msgspec.structs.replace(first, message=f"{first.message}\n{text}")
    shown, aside = (second, first.message) if first.kind in _FOR_AUTHORS else (first, text)
    return msgspec.structs.replace(shown, remark=f"{shown.remark}\n{aside}".strip())
