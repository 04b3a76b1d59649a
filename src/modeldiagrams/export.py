"""Graph → file: a picture, an interactive page, or the graph itself. Draws in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldiagrams.diagrams import Diagram, diagram_id, forward_problem
from modeldiagrams.errors import OptionError
from modeldiagrams.options import Options
from modeldiagrams.page import standalone
from modeldiagrams.render import render, view_from
from modeldiagrams.serialize import save, write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from modeldiagrams.graph import Graph

__all__ = ["drawn", "to_html", "to_svg", "write"]


def to_svg(graph: Graph, **view: Any) -> str:
    """Draw a graph as an SVG file.

    Args:
        graph: What to draw.
        **view: `depth`, `expand` and `direction`, as in `Options`.

    Returns:
        The SVG, with its style inside.

    Raises:
        OptionError: for a wrong view keyword.
        RenderError: if the graph can't be drawn.
    """
    return render(graph, view_from(view), standalone=True).svg


def to_html(graph: Graph, **view: Any) -> str:
    """Draw a graph as one self-contained, interactive HTML file.

    Args:
        graph: What to draw.
        **view: `depth`, `expand` and `direction`, as in `Options`.

    Returns:
        The document. It loads nothing from anywhere.

    Raises:
        OptionError: for a wrong view keyword.
        RenderError: if the graph can't be drawn.
    """
    return standalone(drawn(graph, view))


def write(graph: Graph, path: Path, view: Mapping[str, Any]) -> None:
    """Write a graph in the form that the file's suffix asks for; see `ModelDiagram.save`."""
    if path.suffix == ".json":
        save(graph, path)
    elif path.suffix == ".svg":
        write_atomically(path, to_svg(graph, **view).encode())
    elif path.suffix == ".html":
        write_atomically(path, to_html(graph, **view).encode())
    else:
        raise OptionError("path", f"expected a name ending in .json, .svg or .html, got {path.name!r}")


def drawn(graph: Graph, view: Mapping[str, Any]) -> Diagram:
    """A graph as a diagram of its own, without documentation around it."""
    first = view_from(view)
    options = Options(model=graph.model.class_, depth=first.depth, expand=first.expand, direction=first.direction)
    return Diagram(
        id=diagram_id(options),
        options=options,
        graph=graph,
        picture=render(graph, first),
        problem=forward_problem(graph.model.name, graph),
    )
