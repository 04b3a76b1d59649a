"""Drawing from Python: in notebooks, scripts and tests. Traces and draws in this process."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.diagrams import Diagram, diagram_id
from modeldiagrams.errors import OptionError
from modeldiagrams.options import Options
from modeldiagrams.page import standalone
from modeldiagrams.render import render, view_from
from modeldiagrams.serialize import save, write_atomically

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from torch import nn

    from modeldiagrams.graph import Graph

__all__ = ["ModelDiagram", "diagram", "to_html", "to_svg"]

_TALLEST = 640
_TOOLBAR = 48


def diagram(
    model: nn.Module, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None, **view: Any
) -> ModelDiagram:
    """Trace a model and show it, e.g. as the last expression of a notebook cell.

    Args:
        model: The model, in the mode (train or eval) it is to be shown in.
        args: Positional arguments of one call.
        kwargs: Keyword arguments of that call.
        **view: `depth`, `expand` and `direction`, as in `Options`.

    Returns:
        The diagram.

    Raises:
        OptionError: for a wrong view keyword.
    """
    view_from(view)  # before the trace, which may take long
    from modeldiagrams.tracer import trace  # noqa: PLC0415  (graphs can be drawn where torch is not installed)

    return ModelDiagram(trace(model, args, kwargs), view)


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
    return standalone(_drawn(graph, view))


class ModelDiagram:
    """A traced model that shows itself in a notebook.

    Attributes:
        graph: What was traced.
    """

    def __init__(self, graph: Graph, view: Mapping[str, Any]) -> None:
        self.graph = graph
        self._view = dict(view)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file.

        Args:
            path: Its suffix says what it holds: ``.json`` the graph, ``.svg`` the picture, ``.html`` the interactive
                diagram.

        Raises:
            OptionError: for another suffix.
            RenderError: if the graph can't be drawn.
        """
        write(self.graph, Path(path), self._view)

    def _repr_html_(self) -> str:
        """The diagram in a frame: notebooks run the scripts of a frame in all their front ends."""
        drawn = _drawn(self.graph, self._view)
        height = min(drawn.picture.height + _TOOLBAR if drawn.picture else _TALLEST, _TALLEST)
        return (
            f'<iframe srcdoc="{html.escape(standalone(drawn))}" title="{html.escape(self.graph.model.name)}"'
            ' sandbox="allow-scripts allow-downloads" allow="fullscreen"'
            f' style="width:100%;height:{height:.0f}px;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<diagram of {self.graph.model.name}: {len(self.graph.nodes)} nodes, {self.graph.status.state}>"


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


def _drawn(graph: Graph, view: Mapping[str, Any]) -> Diagram:
    first = view_from(view)
    options = Options(model=graph.model.class_, depth=first.depth, expand=first.expand, direction=first.direction)
    return Diagram(id=diagram_id(options), options=options, graph=graph, picture=render(graph, first))
