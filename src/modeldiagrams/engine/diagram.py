"""A finished diagram and its problem."""

import msgspec

from modeldiagrams.engine.compare.difference import Difference
from modeldiagrams.engine.problems import naming
from modeldiagrams.errors import CommentError, GraphError, ModelDiagramsError, OptionError, RenderError, WorkerError
from modeldiagrams.ir.graph import Graph
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.options import Options
from modeldiagrams.overlay.overlay import Overlay
from modeldiagrams.render.draw import Authored, Beside, Earlier, Picture
from modeldiagrams.watching.page import PageRecording
from modeldiagrams.worker import Kind, Problem

__all__ = ["Comparison", "Diagram", "Kind", "Problem", "with_problem"]

_KINDS: dict[type[ModelDiagramsError], Kind] = {
    CommentError: "comment",
    OptionError: "option",
    RenderError: "render",
    GraphError: "difference",
}
_FOR_AUTHORS = ("snapshot", "comment")
"""Kinds of problems that readers can do nothing about, and that leave the picture as it is."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two versions of a model."""

    before: Graph
    after: Graph
    difference: Difference
    details: bool
    """Whether changes of level ``detail`` are shown."""

    @property
    def has_picture(self) -> bool:
        """Whether there is something to mark: not between two architectures, which have no parts in common."""
        shown = (change for change in self.difference.changes if self.details or change.level != "detail")
        return self.difference.inventory is None and any(True for _ in shown)

    @property
    def earlier(self) -> Earlier:
        """For the picture of the later graph."""
        return Earlier(graph=serialize(self.before), details=self.details)


class Diagram(msgspec.Struct, frozen=True, kw_only=True):
    """A traced and drawn model, or why there is none."""

    id: str
    """Name of the diagram's files; in one site, equal ids mean equal content."""
    options: Options
    snapshot: str = ""
    """Name of its snapshot, which diagrams of the same call share; "" for a graph file."""
    graph: Graph | None = None
    picture: Picture | None = None
    problem: Problem | None = None
    """May come with a picture: of a pass up to where it raised."""
    sources: tuple[str, ...] = ()
    """Absolute files; the diagram is outdated when one of them changes."""
    libraries: tuple[str, ...] = ()
    """Distributions whose upgrade may change the diagram, apart from torch."""
    names: dict[str, tuple[str, ...]] = {}
    """Class → shorter names of the same class, under which it may be documented."""

    own_names: tuple[str, ...] = ()
    """Under which references find the diagram, besides what its author wrote."""

    comparison: Comparison | None = None
    """Set instead of the graph if the picture shows what changed between two."""

    recordings: tuple[PageRecording, ...] = ()
    """What trainings recorded of the model, for readers to look at on the diagram."""

    live: str = ""
    """URL of a stream of such recordings, on a page that follows one."""

    overlay: Overlay | None = None
    """What its author says about nodes."""

    source_link: str | None = None
    """URL templates of its code, where the site links to that: see `modeldiagrams.hosting.source_links`."""

    code: dict[str, tuple[str, ...]] = {}
    """Place in the code, as nodes name it → the lines there, for readers who zoom in; of code that is linked only."""

    place: int = 0
    """Number among the diagrams of its page that have its id, from 0."""

    @property
    def anchor(self) -> str:
        """Its own id on its page, with which those of its notes and steps begin."""
        return self.options.figure.name or (f"{self.id}-{self.place + 1}" if self.place else self.id)

    @property
    def beside(self) -> Beside | None:
        """What its picture shows besides the graph."""
        if self.comparison:
            return self.comparison.earlier
        overlay = self.overlay.without_texts().to_json() if self.overlay else None
        steps = self.options.tour.steps or ()
        return Authored(overlay=overlay, steps=tuple(steps)) if overlay or steps else None

    @property
    def shown_problem(self) -> Problem | None:
        """The problem that the page shows; others are only reported to the authors."""
        return None if self.problem and self.problem.kind in _FOR_AUTHORS else self.problem


def with_problem(diagram: Diagram, error: ModelDiagramsError) -> Diagram:
    """The diagram with an error of its options, of drawing or of comparing as its problem."""
    kind: Kind = _KINDS.get(type(error), "worker")
    problem = Problem(kind=kind, message=str(error), frames=error.frames if isinstance(error, WorkerError) else ())
    problem = naming(diagram.options.call.model, problem)
    if diagram.problem:  # what the model raised comes first
        problem = _joined(diagram.problem, problem, str(error))
    return msgspec.structs.replace(diagram, problem=problem)


def _joined(first: Problem, second: Problem, text: str) -> Problem:
    """Two problems as one; readers see nothing of one that is for authors beside one that is not."""
    if (first.kind in _FOR_AUTHORS) == (second.kind in _FOR_AUTHORS):
        return msgspec.structs.replace(first, message=f"{first.message}\n{text}")
    shown, aside = (second, first.message) if first.kind in _FOR_AUTHORS else (first, text)
    return msgspec.structs.replace(shown, remark=f"{shown.remark}\n{aside}".strip())
