"""Diagrams in notebooks and scripts: traced and drawn in this process."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.api.export import draw_diagram, write
from modeldiagrams.html.standalone import standalone
from modeldiagrams.options.parsing import parse_view

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from torch import nn

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.render.draw import Theme

__all__ = ["ModelDiagram", "diagram"]

_MAX_HEIGHT = 640
"""CSS pixels of the frame, toolbar included."""
_TOOLBAR = 48
"""CSS pixels."""


def diagram(
    model: nn.Module, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None, **view: Any
) -> ModelDiagram:
    """Trace a model and show it, e.g. as the last expression of a notebook cell.

    Args:
        model: The model, in train or eval mode; the diagram shows that mode.
        args: Positional arguments of one call.
        kwargs: Keyword arguments of that call.
        **view: As in `to_svg`.

    Returns:
        The diagram.

    Raises:
        OptionError: for a wrong view keyword.
        ModelDiagramsError: if PyTorch is not installed.
    """
    parse_view(view)  # before the trace, which may take long
    # through the package, which explains a missing torch
    from modeldiagrams import trace  # noqa: PLC0415  (graphs can be drawn where torch is not installed)

    return ModelDiagram(trace(model, args, kwargs), view)


class ModelDiagram:
    """A traced model that shows itself in a notebook.

    Attributes:
        graph: What was traced.
    """

    def __init__(self, graph: Graph, view: Mapping[str, Any]) -> None:
        self.graph = graph
        self._view = dict(view)

    def save(self, path: str | os.PathLike[str], *, flat: bool = False, theme: Theme | None = None) -> None:
        """Write a file.

        Args:
            path: Its suffix is the format: ``.json`` for the graph, ``.svg``, ``.png`` or ``.pdf`` for the picture,
                ``.html`` for the interactive diagram, ``.dot`` for Graphviz, ``.mmd`` for Mermaid.
            flat: Whether an SVG file is for other programs than browsers, see `to_svg`.
            theme: ``light`` (by default) or ``dark``, for ``.png``, ``.pdf`` and flat ``.svg``.

        Raises:
            OptionError: for another suffix, and for `flat` or `theme` where the format ignores them.
            RenderError: if the graph can't be drawn, or the library for PNG, PDF or DOT files is not installed.
        """
        write(self.graph, Path(path), self._view, flat=flat, theme=theme)

    def _repr_html_(self) -> str:
        """The diagram in a frame: notebooks run the scripts of a frame in all their front ends."""
        shown = draw_diagram(self.graph, self._view)
        height = min(shown.picture.height + _TOOLBAR if shown.picture else _MAX_HEIGHT, _MAX_HEIGHT)
        return (
            f'<iframe srcdoc="{html.escape(standalone(shown))}" title="{html.escape(self.graph.model.name)}"'
            ' sandbox="allow-scripts allow-downloads" allow="fullscreen"'
            f' style="width:100%;height:{height:.0f}px;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<diagram of {self.graph.model.name}: {len(self.graph.nodes)} nodes, {self.graph.status.state}>"
