"""Diagrams in notebooks and scripts: traced and drawn in this process."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.api.annotations import annotations_in_code, authored
from modeldiagrams.api.export import DRAWN, draw_diagram, write
from modeldiagrams.api.notebook_viewer import OUTPUTS
from modeldiagrams.engine.problems import forward_problem, in_words
from modeldiagrams.engine.recordings import named_files, read_recordings
from modeldiagrams.html.standalone import notebook_output
from modeldiagrams.options.parsing import parse_view
from modeldiagrams.overlay.resolve import annotate
from modeldiagrams.render.draw import Flat, render

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from torch import nn

    from modeldiagrams.engine.recordings import PageRecording
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.overlay.overlay import Overlay
    from modeldiagrams.render.draw import Theme

__all__ = ["ModelDiagram", "diagram"]


def diagram(  # noqa: PLR0913  (one for each thing to say)
    model: nn.Module,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    overlay: Overlay | None = None,
    recording: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    measure_time: bool = False,
    **view: Any,
) -> ModelDiagram:
    """Trace a model and show it, e.g. as the last expression of a notebook cell.

    If the model raises, you get a warning, and a diagram of what was traced until then. Comments ``# diagram: …`` in
    the model's files are read.

    Args:
        model: The model, in train or eval mode; the diagram shows that mode.
        args: Positional arguments of one call. A model that fails without any gets example inputs, found as in
            documentation; the outline below the picture says which.
        kwargs: Keyword arguments of that call.
        overlay: Annotations of nodes, in addition to comments in the code; see `annotate` and `Overlay.load`.
        recording: A file that `watch` wrote during a training of the model, or two files to compare side by side.
        measure_time: Whether to measure how long each op takes, see `trace`.
        **view: As in `to_svg`.

    Returns:
        The diagram.

    Raises:
        OptionError: for a wrong view keyword.
        RecordingError: if a file is not a recording, or is one of another model.
        TypeError: if `model` can't be called or is a class of modules, or `args` is not a tuple.
        ModelDiagramsError: if PyTorch is not installed.
        TargetError: if example inputs that the model's class offers can't be made.
    """
    parse_view(view)  # before the trace, which may take long
    graph = _traced(model, args, kwargs, measure_time=measure_time)
    if problem := forward_problem(graph.model.name, graph):
        warnings.warn(in_words(problem), stacklevel=2)
    in_code = annotations_in_code(graph, model)
    for comment in in_code.problems:
        warnings.warn(str(comment), stacklevel=2)
    recordings = read_recordings(graph, named_files(recording))
    return ModelDiagram(graph, view, _both(in_code.overlay, overlay), recordings, is_annotated=overlay is not None)


def _both(in_code: Overlay | None, given: Overlay | None) -> Overlay | None:
    """What comments say and what is given; one for another graph is drawn alone, and gets its warning there."""
    if in_code is None or given is None or given.graph != in_code.graph:
        return given or in_code
    return in_code | given


def _traced(model: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None, *, measure_time: bool) -> Graph:
    # through the package, which explains a missing torch
    from modeldiagrams import trace  # noqa: PLC0415  (graphs can be drawn where torch is not installed)

    graph = trace(model, args, kwargs, measure_time=measure_time)
    if graph.status.error is None or args or kwargs:
        return graph
    from modeldiagrams.resolve import infer  # noqa: PLC0415  (imports torch)

    return infer(model, measure_time=measure_time) or graph


class ModelDiagram:
    """A traced model that shows itself in a notebook.

    Attributes:
        graph: What was traced.
        overlay: Annotations of its nodes, by `annotate` or by comments in the model's code; None without any.
    """

    def __init__(
        self,
        graph: Graph,
        view: Mapping[str, Any],
        overlay: Overlay | None = None,
        recordings: Sequence[PageRecording] = (),
        *,
        is_annotated: bool = False,
    ) -> None:
        self.graph = graph
        self.overlay = overlay
        self._view = dict(view)
        self._recordings = recordings
        self._is_annotated = is_annotated

    def annotate(self, pattern: str, **annotations: Any) -> ModelDiagram:
        """The same diagram with annotations of nodes.

        Args:
            pattern: Which nodes, see `annotate`.
            **annotations: As in `annotate`: `text`, `rename`, `group`, `highlight=True`, …

        Raises:
            OptionError: as in `annotate`.
        """
        more = annotate(self.graph, pattern, **annotations)
        overlay = self.overlay | more if self.overlay else more
        return ModelDiagram(self.graph, self._view, overlay, self._recordings, is_annotated=True)

    def save(self, path: str | os.PathLike[str], *, flat: bool = False, theme: Theme | None = None) -> None:
        """Write a file.

        Args:
            path: Its suffix is the format: ``.json`` for the graph, ``.svg``, ``.png`` or ``.pdf`` for the picture,
                ``.html`` for the interactive diagram, ``.dot`` for Graphviz, ``.mmd`` for Mermaid.
            flat: Whether an SVG file is for other programs than browsers, see `to_svg`.
            theme: ``light`` (by default) or ``dark``, for ``.png``, ``.pdf`` and flat ``.svg``.

        Raises:
            OptionError: for another suffix, and for `flat`, `theme` or an overlay where the format ignores them.
            RenderError: if the graph can't be drawn, or the library for PNG, PDF or DOT files is not installed.
        """
        suffix = Path(path).suffix
        recordings = self._recordings if suffix == ".html" else ()  # pictures show no training
        overlay = self.overlay if self._is_annotated or suffix in DRAWN else None  # else only code says anything
        write(self.graph, Path(path), self._view, flat=flat, theme=theme, overlay=overlay, recordings=recordings)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """What notebooks choose from; those with HTML prefer it."""
        svg = self._svg()
        return {"text/html": self._html(svg), "image/svg+xml": svg, "text/plain": repr(self)}

    def _repr_html_(self) -> str:
        return self._html(self._svg())

    def _html(self, svg: str) -> str:
        """The still picture, made interactive by the viewer that one output of the notebook has."""
        diagram = draw_diagram(self.graph, self._view, self.overlay, self._recordings)
        return notebook_output(diagram, svg) + OUTPUTS.viewer_if_needed()

    def _svg(self) -> str:
        """A picture for where nothing is known of styles, scripts and background."""
        return render(
            self.graph, parse_view(self._view), flat=Flat(outlines=False), beside=authored(self.graph, self.overlay)
        ).svg

    def __repr__(self) -> str:
        return f"<diagram of {self.graph.model.name}: {len(self.graph.nodes)} nodes, {self.graph.status.state}>"
