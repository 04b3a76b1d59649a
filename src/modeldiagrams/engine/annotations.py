"""Collects a diagram's annotations from options and from comments in the model's code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from modeldiagrams.engine.diagram import add_problem
from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.overlay.comments import add_cues, read_cues
from modeldiagrams.overlay.images import read_image
from modeldiagrams.overlay.overlay import Image
from modeldiagrams.overlay.resolve import resolve
from modeldiagrams.worker.dependencies import find_dependencies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.overlay.overlay import Overlay

__all__ = ["Annotations", "annotate_diagram", "annotations_of", "list_sources"]


class Annotations(NamedTuple):
    """The annotations of one graph."""

    overlay: Overlay | None
    """None if there are no annotations."""
    problems: list[ModelDiagramsError]
    """Problems of some annotations; the others apply anyway."""
    sources: Sequence[str] = ()
    """Absolute paths of image files."""


def annotations_of(graph: Graph, said: Mapping[str, Any], sources: Sequence[str], folder: Path) -> Annotations:
    """Find the nodes that options and comments refer to.

    Args:
        graph: The graph.
        said: The given options of the struct `Author`.
        sources: Absolute paths of the model's source files, to read comments from.
        folder: The folder that image paths are relative to.
    """
    cues, wrong = read_cues(graph, sources)
    if not said and not any(cues.values()):
        return Annotations(None, [*wrong])
    files, images, missing = said.get("embed") or {}, dict[str, Image](), list[ModelDiagramsError]()
    for pattern, one in files.items():
        try:
            images[pattern] = _read_image(folder, one["image"], one.get("alt") or f"Picture of {pattern}")
        except OptionError as error:
            missing.append(error)
    overlay, problems = resolve(graph, add_cues({**said, "embed": images}, cues))
    sources = [str((folder / one["image"]).absolute()) for one in files.values()]
    return Annotations(overlay, [*missing, *problems, *wrong], sources)


def _read_image(folder: Path, name: str, alt: str) -> Image:
    try:
        return read_image((folder / name).read_bytes(), alt)
    except OSError as error:
        reason = f"{error.strerror or error}; expected the path of a PNG, JPEG or SVG file, as in links"
        raise OptionError("embed", f"{name}: {reason}") from error
    except ValueError as error:
        raise OptionError("embed", f"{name}: {error}") from error


def annotate_diagram(diagram: Diagram, folder: Path) -> Diagram:
    """Add an overlay to a diagram if it has annotations, and their problems.

    Args:
        diagram: The diagram, before it is drawn.
        folder: The folder that image paths are relative to.
    """
    if diagram.graph is None:
        return diagram
    said = {name: value for name, value in msgspec.structs.asdict(diagram.options.author).items() if value is not None}
    found = annotations_of(diagram.graph, said, diagram.sources, folder)
    sources = tuple(dict.fromkeys([*diagram.sources, *found.sources]))
    diagram = msgspec.structs.replace(diagram, overlay=found.overlay, sources=sources)
    for problem in found.problems:
        diagram = add_problem(diagram, problem)
    return diagram


def list_sources(model: Any) -> tuple[str, ...]:
    """Return the absolute paths of the user's files that define a model in this process: its classes or function."""
    modules = getattr(model, "modules", None)
    classes = {type(module) for module in modules()} if callable(modules) else set[type]()
    name = f"{getattr(model, '__module__', '')}.{getattr(model, '__qualname__', '')}"
    return find_dependencies(classes, [name], ())
