"""Diagrams in notebooks and scripts: traced and drawn in this process."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.export import drawn, write
from modeldiagrams.page import standalone
from modeldiagrams.render import view_from

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from torch import nn

    from modeldiagrams.flat import Theme
    from modeldiagrams.graph import Graph

__all__ = ["ModelDiagram", "diagram"]

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
        **view: `depth`, `expand`, `collapse` and `direction`, as in `Options`; `fit`, as in `to_svg`.

    Returns:
        The diagram.

    Raises:
        OptionError: for a wrong view keyword.
    """
    view_from(view)  # before the trace, which may take long
    from modeldiagrams.tracer import trace  # noqa: PLC0415  (graphs can be drawn where torch is not installed)

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
            path: Its suffix says what it holds: ``.json`` the graph, ``.svg``, ``.png`` or ``.pdf`` the picture,
                ``.html`` the interactive diagram.
            flat: Whether an SVG file is for what is no browser, see `to_svg`.
            theme: ``light`` (by default) or ``dark``, for ``.png``, ``.pdf`` and flat ``.svg``.

        Raises:
            OptionError: for another suffix, and for `flat` or `theme` where they mean nothing.
            RenderError: if the graph can't be drawn, or what makes PNG or PDF files is not installed.
        """
        write(self.graph, Path(path), self._view, flat=flat, theme=theme)

    def _repr_html_(self) -> str:
        """The diagram in a frame: notebooks run the scripts of a frame in all their front ends."""
        made = drawn(self.graph, self._view)
        height = min(made.picture.height + _TOOLBAR if made.picture else _TALLEST, _TALLEST)
        return (
            f'<iframe srcdoc="{html.escape(standalone(made))}" title="{html.escape(self.graph.model.name)}"'
            ' sandbox="allow-scripts allow-downloads" allow="fullscreen"'
            f' style="width:100%;height:{height:.0f}px;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<diagram of {self.graph.model.name}: {len(self.graph.nodes)} nodes, {self.graph.status.state}>"
