"""Collects a diagram's annotations from its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from modeldiagrams.engine.diagram import add_problem
from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.ir.samples import SAMPLE
from modeldiagrams.overlay.annotate import resolve
from modeldiagrams.overlay.image_files import read_image
from modeldiagrams.overlay.number_files import read_numbers
from modeldiagrams.overlay.overlay import Image
from modeldiagrams.overlay.sampled_numbers import read_samples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.overlay.numbers import GivenNumbers
    from modeldiagrams.overlay.overlay import Overlay

__all__ = ["Annotations", "annotate_diagram", "annotations_of", "check_numbers"]


class Annotations(NamedTuple):
    """The annotations of one graph."""

    overlay: Overlay | None
    """None if there are no annotations."""
    problems: list[ModelDiagramsError]
    """Problems of some annotations; the others apply anyway."""
    sources: Sequence[str] = ()
    """Absolute paths of files with images and numbers."""


def annotations_of(graph: Graph, said: Mapping[str, Any], folder: Path) -> Annotations:
    """Find the nodes that options refer to.

    Args:
        graph: The graph.
        said: The given options of the struct `Author`.
        folder: The folder that paths of files are relative to.
    """
    if not said:
        return Annotations(None, [])
    files, images, missing = said.get("embed") or {}, dict[str, Image](), list[ModelDiagramsError]()
    for pattern, one in files.items():
        try:
            images[pattern] = _read_image(folder, one["image"], one.get("alt") or f"Picture of {pattern}")
        except OptionError as error:
            missing.append(error)
    given: list[GivenNumbers] = []
    for source in said.get("values") or ():
        try:
            given += read_samples(graph) if source == SAMPLE else read_numbers(source, folder)
        except OptionError as error:
            missing.append(error)
    overlay, problems = resolve(graph, {**said, "embed": images, "values": given})
    named = [*(one["image"] for one in files.values()), *(said.get("values") or ())]
    sources = [str((folder / name).absolute()) for name in named if isinstance(name, str) and name != SAMPLE]
    return Annotations(overlay, [*missing, *problems], sources)


def check_numbers(sources: Sequence[Any]) -> None:
    """Check the option `values` before anything is drawn: a picture without them would be another than asked for.

    Raises:
        OptionError: for the first file or map that can't be read.
    """
    for source in sources:
        if source != SAMPLE:
            read_numbers(source)


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
        folder: The folder that paths of files are relative to.
    """
    if diagram.graph is None:
        return diagram
    said = {name: value for name, value in msgspec.structs.asdict(diagram.options.author).items() if value is not None}
    found = annotations_of(diagram.graph, said, folder)
    sources = tuple(dict.fromkeys([*diagram.sources, *found.sources]))
    diagram = msgspec.structs.replace(diagram, overlay=found.overlay, sources=sources)
    for problem in found.problems:
        diagram = add_problem(diagram, problem)
    return diagram
