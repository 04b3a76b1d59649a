"""What an author says about nodes, for one diagram: by options, and by comments in the model's code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from modeldiagrams.engine.diagram import with_problem
from modeldiagrams.engine.embedding import embedded
from modeldiagrams.overlay.comments import add_cues, read_cues
from modeldiagrams.overlay.resolve import resolve
from modeldiagrams.worker.dependencies import dependencies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.engine.embedding import Make
    from modeldiagrams.errors import ModelDiagramsError
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.overlay.overlay import Overlay

__all__ = ["Annotations", "annotated", "annotations_of", "sources_of"]


class Annotations(NamedTuple):
    """What is said about one graph."""

    overlay: Overlay | None
    """None where nothing is said."""
    problems: list[ModelDiagramsError]
    """What is wrong; the rest holds all the same."""
    sources: Sequence[str] = ()
    """Absolute paths of the files that images came from."""
    libraries: Sequence[str] = ()
    """What functions that make images depend on."""


def annotations_of(
    graph: Graph, said: Mapping[str, Any], sources: Sequence[str], folder: Path, make: Make
) -> Annotations:
    """Find the nodes that options and comments speak of.

    Args:
        graph: Where to look.
        said: Values of the options of struct `Author` that are given.
        sources: Absolute paths of the model's source files, whose comments are read.
        folder: Images are relative to it.
        make: Calls functions of the author's that make images.
    """
    cues, wrong = read_cues(graph, sources)
    if not said and not any(cues.values()):
        return Annotations(None, [*wrong])
    found = embedded(said.get("embed") or {}, folder, make)
    overlay, problems = resolve(graph, add_cues({**said, "embed": found.images}, cues))
    return Annotations(overlay, [*found.problems, *problems, *wrong], found.sources, found.libraries)


def annotated(diagram: Diagram, folder: Path, make: Make) -> Diagram:
    """The diagram with an overlay, if its author says anything, and with what is wrong with that as its problem.

    Args:
        diagram: One that is not yet drawn.
        folder: Images are relative to it.
        make: Calls functions of the author's that make images.
    """
    if diagram.graph is None:
        return diagram
    said = {name: value for name, value in msgspec.structs.asdict(diagram.options.author).items() if value is not None}
    found = annotations_of(diagram.graph, said, diagram.sources, folder, make)
    diagram = msgspec.structs.replace(
        diagram,
        overlay=found.overlay,
        sources=tuple(dict.fromkeys([*diagram.sources, *found.sources])),
        libraries=tuple(dict.fromkeys([*diagram.libraries, *found.libraries])),
    )
    for problem in found.problems:
        diagram = with_problem(diagram, problem)
    return diagram


def sources_of(model: Any) -> tuple[str, ...]:
    """Absolute paths of the user's files that define a model of this process: a module's classes, or a function."""
    modules = getattr(model, "modules", None)
    classes = {type(module) for module in modules()} if callable(modules) else set[type]()
    name = f"{getattr(model, '__module__', '')}.{getattr(model, '__qualname__', '')}"
    return dependencies(classes, [name], ())
