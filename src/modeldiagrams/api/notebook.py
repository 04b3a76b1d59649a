"""Diagrams in notebooks and scripts, traced and drawn in the current process."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import msgspec

from modeldiagrams.api.export import draw_diagram, draw_picture, write
from modeldiagrams.api.notebook_viewer import OUTPUTS
from modeldiagrams.engine.problems import format_problem, make_forward_problem
from modeldiagrams.engine.recordings import list_named_files, read_recordings
from modeldiagrams.html.standalone import render_notebook_output
from modeldiagrams.options.options import Call
from modeldiagrams.options.parsing import parse_view
from modeldiagrams.overlay.annotate import add_numbers, annotate, wants_samples
from modeldiagrams.record.calls import calls_file, with_recorded
from modeldiagrams.render.draw import Flat

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from torch import nn

    from modeldiagrams.engine.recordings import PageRecording
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.overlay.overlay import Overlay
    from modeldiagrams.render.draw import Theme

__all__ = ["ModelDiagram", "diagram"]


def diagram(  # noqa: PLR0913  (the most common options)
    model: nn.Module | str,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    overlay: Overlay | None = None,
    values: Any = None,
    recording: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    mode: Literal["auto", "fake", "meta", "real"] = "auto",
    training: bool | None = None,
    measure_time: bool = False,
    part: str | None = None,
    cases: Mapping[str, Mapping[str, Any]] | Literal["generate"] | None = None,
    explore: bool = False,
    dims: Mapping[str, Any] | Literal["auto", "off"] | None = "auto",
    **view: Any,
) -> ModelDiagram:
    """Trace a model and show it, e.g. as the last expression of a notebook cell.

    Args:
        model: The model, or the name of a class, ``"mypkg.Net"``, which is called as recorded, or by rules.
        args: Positional arguments of one call. If the model fails without any, they are found as in documentation.
        kwargs: Keyword arguments of that call.
        overlay: Annotations of nodes; see `annotate` and `Overlay.load`.
        values: Numbers that colour the nodes, see `to_svg`; ``"sample"`` for what flows, see `trace`.
        recording: A file that `watch` wrote during a training of the model, or two to compare.
        mode: How values are computed, see `trace`.
        training: Whether the model runs in training mode. By default, a module stays as it is; a class is in eval mode.
        measure_time: Whether to measure how long each op takes, see `trace`.
        part: The dotted path of a module to draw as the model.
        cases: Several passes, see `trace`. They start from `args`, `kwargs`, `mode` and `training`.
        explore: Whether to add the other sides where a tensor's value decided, see `trace`.
        dims: Names of the sizes of inputs, see `trace`; ``off`` leaves all shapes numbers. Several passes have none.
        **view: As in `to_svg`.

    Returns:
        The diagram. If the model raises, you get a warning, and a diagram of what was traced until then.

    Raises:
        OptionError: for an invalid option.
        RecordingError: if a file is not a recording of this model.
        TypeError, ValueError: as `trace`, and if `training` is set for what is neither a module nor a name.
        ModelDiagramsError: if PyTorch is not installed; as a `TargetError`, if inputs can't be made.
    """
    parse_view(view)  # before the trace, which may take long
    dims = None if dims == "off" or (dims == "auto" and (cases or explore)) else dims
    options = _TraceOptions(mode=mode, measure_time=measure_time, part=part, cases=cases, explore=explore, dims=dims)
    graph = _warned(_trace(model, args, kwargs, options, training=training, sample=wants_samples(values)))
    overlay = add_numbers(graph, overlay, values)
    return ModelDiagram(graph, view, overlay, read_recordings(graph, list_named_files(recording)))


def _warned(graph: Graph) -> Graph:
    """Warn of an error of the model."""
    if problem := make_forward_problem(graph.model.name, graph):
        warnings.warn(format_problem(problem), stacklevel=3)
    return graph


class _TraceOptions(TypedDict):
    mode: Literal["auto", "fake", "meta", "real"]
    measure_time: bool
    part: str | None
    cases: Mapping[str, Mapping[str, Any]] | Literal["generate"] | None
    explore: bool
    dims: Mapping[str, Any] | Literal["auto"] | None


def _trace(  # noqa: PLR0913  (those of `diagram`)
    model: nn.Module | str,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None,
    options: _TraceOptions,
    *,
    training: bool | None,
    sample: bool,
) -> Graph:
    # through the package, which explains a missing torch
    from modeldiagrams import trace  # noqa: PLC0415  (graphs can be drawn where torch is not installed)
    from modeldiagrams.resolve.own_models import training_set  # noqa: PLC0415

    if not isinstance(model, str):
        with training_set(model, training=training):
            return trace(model, args, kwargs, **options, sample=sample)
    from modeldiagrams.resolve import graph_of, resolve  # noqa: PLC0415  (imports torch)

    is_given = bool(args or kwargs)
    call = Call(
        model=model,
        mode=None if options["mode"] == "auto" else options["mode"],
        training=bool(training),
        measure_time=options["measure_time"],
        sample=sample,
        part=None if is_given or options["cases"] else options["part"],
    )
    target = resolve(with_recorded(call, calls_file(Path.cwd())))
    if is_given:
        return trace(target.model, args, kwargs, **options, sample=sample)
    if options["cases"] is not None:  # of which one without arguments has those that were found
        graph = trace(target.model, target.args, target.kwargs, **options)
        return msgspec.structs.replace(graph, assumptions=(*target.assumptions, *graph.assumptions))
    return graph_of(
        target,
        options["mode"],
        measure_time=options["measure_time"],
        explore=options["explore"],
        dims=options["dims"],
        sample=sample,
    )


class ModelDiagram:
    """A traced model that shows itself in a notebook.

    Attributes:
        graph: The traced graph.
        overlay: Annotations of its nodes by `annotate`; None if there are none.
    """

    def __init__(
        self,
        graph: Graph,
        view: Mapping[str, Any],
        overlay: Overlay | None = None,
        recordings: Sequence[PageRecording] = (),
    ) -> None:
        self.graph = graph
        self.overlay = overlay
        self._view = dict(view)
        self._recordings = recordings

    def annotate(self, pattern: str, **annotations: Any) -> ModelDiagram:
        """Return the diagram with further annotations of nodes.

        Args:
            pattern: The nodes, see `annotate`.
            **annotations: As in `annotate`: `text`, `rename`, `group`, `highlight=True`, …

        Raises:
            OptionError: as in `annotate`.
        """
        more = annotate(self.graph, pattern, **annotations)
        overlay = self.overlay | more if self.overlay else more
        return ModelDiagram(self.graph, self._view, overlay, self._recordings)

    def save(self, path: str | os.PathLike[str], *, flat: bool = False, theme: Theme | None = None) -> None:
        """Write a file.

        Args:
            path: The file; its suffix is the format: ``.json`` for the graph, ``.svg``, ``.png`` or ``.pdf`` for the
                picture, ``.html`` for the interactive diagram, ``.dot`` for Graphviz, ``.mmd`` for Mermaid.
            flat: Whether an SVG file is for programs other than browsers, see `to_svg`.
            theme: ``light`` (default) or ``dark``, for ``.png``, ``.pdf`` and flat ``.svg``.

        Raises:
            OptionError: for another suffix, or if the format ignores `flat`, `theme` or the overlay.
            RenderError: if the graph can't be drawn, or the library for PNG, PDF or DOT files is not installed.
        """
        suffix = Path(path).suffix
        recordings = self._recordings if suffix == ".html" else ()  # pictures show no training
        write(self.graph, Path(path), self._view, flat=flat, theme=theme, overlay=self.overlay, recordings=recordings)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """Return all formats; notebooks prefer HTML if they support it."""
        svg = self._svg()
        return {"text/html": self._html(svg), "image/svg+xml": svg, "text/plain": repr(self)}

    def _repr_html_(self) -> str:
        return self._html(self._svg())

    def _html(self, svg: str) -> str:
        """Render the still picture, which the viewer in one output of the notebook makes interactive."""
        diagram = draw_diagram(self.graph, self._view, self.overlay, self._recordings)
        return render_notebook_output(diagram, svg) + OUTPUTS.viewer_if_needed()

    def _svg(self) -> str:
        """Render a picture that doesn't depend on styles, scripts and background."""
        return draw_picture(self.graph, self._view, self.overlay, flat=Flat(outlines=False)).svg

    def __repr__(self) -> str:
        return f"<diagram of {self.graph.model.name}: {len(self.graph.nodes)} nodes, {self.graph.status.state}>"
