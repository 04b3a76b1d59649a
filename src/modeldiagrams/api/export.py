"""Writes a graph as a picture, an interactive page, or a graph file. Draws in the current process."""

from __future__ import annotations

import warnings
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, get_args

from modeldiagrams.api.dot import to_dot
from modeldiagrams.api.given_graph import check_is_graph
from modeldiagrams.api.mermaid import to_mermaid
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.engine.diagram_ids import make_diagram_id
from modeldiagrams.engine.problems import make_forward_problem
from modeldiagrams.engine.recordings import list_named_files, read_recordings
from modeldiagrams.errors import OptionError
from modeldiagrams.html.standalone import render_standalone
from modeldiagrams.ir.documents import write_document
from modeldiagrams.ir.remarks import list_limits
from modeldiagrams.ir.serialize import save
from modeldiagrams.options.options import Call, Options, View
from modeldiagrams.options.parsing import parse_view
from modeldiagrams.options.patterns import Unmatched, find_unmatched
from modeldiagrams.overlay.annotate import add_numbers
from modeldiagrams.render.draw import Authored, Flat, Picture, Theme, render
from modeldiagrams.render.flat import find_missing_text, write_pdf, write_png
from modeldiagrams.render.glyphs import describe_missing
from modeldiagrams.render.picture_file import read_content

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from modeldiagrams.engine.recordings import PageRecording
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.overlay.overlay import Overlay
    from modeldiagrams.render.draw import Picture
    from modeldiagrams.render.picture_file import FileForm

__all__ = [
    "DRAWN",
    "Theme",
    "check_format",
    "draw_diagram",
    "draw_picture",
    "to_html",
    "to_pdf",
    "to_png",
    "to_svg",
    "write",
]

_SUFFIXES = (".json", ".svg", ".png", ".pdf", ".html", ".dot", ".mmd")
_PICTURES: dict[str, FileForm] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}
DRAWN = (*_PICTURES, ".html")
"""Formats with a picture, which shows annotations of nodes."""
_TEXTS = (".dot", ".mmd")
"""Text formats for other programs to lay out."""
_TEXT_OPTIONS = ("depth", "expand", "collapse", "direction", "functions")
"""Options of a view that text formats support."""


def to_svg(
    graph: Graph,
    *,
    flat: bool = False,
    theme: Theme | None = None,
    overlay: Overlay | None = None,
    values: Any = None,
    **view: Any,
) -> str:
    """Draw a graph as an SVG file.

    Args:
        graph: The graph.
        flat: Whether the picture is for programs other than browsers, such as drawing programs: without a style sheet,
            with text as outlines. Otherwise it has light and dark colours, and uses the reader's font.
        theme: ``light`` (default) or ``dark``, for a flat picture; others have both.
        overlay: Names, notes and other annotations of nodes, see `annotate`.
        values: Numbers that colour the nodes: a map from patterns to numbers, a pandas `Series` or `DataFrame`, a JSON
            or CSV file, or a list of these; the picture shows the first.
        **view: `depth`, `expand`, `collapse`, `direction` and `fit`, see the option reference. With `fit`, the
            direction is the one that shows more, and `depth` and `expand` apply unless they make the picture tiny.

    Returns:
        The SVG.

    Raises:
        OptionError: for an invalid option or number, or a theme for a picture that is not flat.
        RenderError: if the graph can't be drawn.
    """
    check_is_graph(graph)
    check_format("picture.svg", flat=flat, theme=theme)
    overlay = add_numbers(graph, overlay, values)
    return _draw(graph, view, Flat(theme=theme or "light") if flat else None, overlay).svg


def to_png(
    graph: Graph,
    *,
    theme: Theme = "light",
    scale: float = 2,
    overlay: Overlay | None = None,
    values: Any = None,
    **view: Any,
) -> bytes:
    """Draw a graph as a PNG file; needs ``pip install "modeldiagrams[png]"``.

    Args:
        graph: The graph.
        theme: ``light`` or ``dark``.
        scale: Pixels per CSS pixel; reduced if the file would have more than 100 million pixels.
        overlay: As in `to_svg`.
        values: As in `to_svg`.
        **view: As in `to_svg`.

    Returns:
        The file's content.

    Raises:
        OptionError: for an invalid option.
        RenderError: if resvg-py is not installed, or the graph can't be drawn.
    """
    check_is_graph(graph)
    check_format("picture.png", theme=theme)
    if not (isinstance(scale, int | float) and scale > 0):
        raise OptionError("scale", f"expected a number above 0, got {scale!r}")
    picture = _draw(graph, view, Flat(theme=theme), add_numbers(graph, overlay, values))
    _warn_of_missing(picture, "png")
    return write_png(picture, scale)


def to_pdf(
    graph: Graph, *, theme: Theme = "light", overlay: Overlay | None = None, values: Any = None, **view: Any
) -> bytes:
    """Draw a graph as a PDF file with one page of the picture's size; needs ``pip install "modeldiagrams[pdf]"``.

    Args:
        graph: The graph.
        theme: ``light`` or ``dark``.
        overlay: As in `to_svg`.
        values: As in `to_svg`.
        **view: As in `to_svg`.

    Returns:
        The file's content: vector graphics and searchable text.

    Raises:
        OptionError: for an invalid option.
        RenderError: if typst is not installed, or the graph can't be drawn.
    """
    check_is_graph(graph)
    check_format("picture.pdf", theme=theme)
    picture = _draw(graph, view, Flat(theme=theme, outlines=False), add_numbers(graph, overlay, values))
    _warn_of_missing(picture, "pdf")
    return write_pdf(picture)


def _warn_of_missing(picture: Picture, form: FileForm) -> None:
    """Warn of characters that no font has."""
    if missing := find_missing_text(picture, form):
        warnings.warn(describe_missing(missing), stacklevel=3)


def _draw(graph: Graph, view: Mapping[str, Any], look: Flat | None, overlay: Overlay | None) -> Picture:
    """Draw the picture of a file, with a style sheet if it has no look; no page around it says what was assumed."""
    return draw_picture(graph, view, overlay, flat=look, standalone=look is None, remarks=list_limits(graph))


def to_html(
    graph: Graph,
    *,
    overlay: Overlay | None = None,
    values: Any = None,
    recording: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    **view: Any,
) -> str:
    """Draw a graph as one self-contained, interactive HTML file.

    Args:
        graph: The graph.
        overlay: As in `to_svg`.
        values: Numbers as in `to_svg`; readers can choose each list of them.
        recording: A file that `watch` wrote, or two files to compare side by side.
        **view: As in `to_svg`.

    Returns:
        The document. It loads no other files.

    Raises:
        OptionError: for an invalid option.
        RecordingError: if a file is not a recording of this model.
        RenderError: if the graph can't be drawn.
    """
    check_is_graph(graph)
    overlay = add_numbers(graph, overlay, values)
    return render_standalone(draw_diagram(graph, view, overlay, read_recordings(graph, list_named_files(recording))))


def write(  # noqa: PLR0913  (options of pictures)
    graph: Graph,
    path: Path,
    view: Mapping[str, Any],
    *,
    flat: bool = False,
    theme: Theme | None = None,
    overlay: Overlay | None = None,
    recordings: Sequence[PageRecording] = (),
) -> Unmatched | None:
    """Write a graph in the format of the file's suffix; see `ModelDiagram.save`.

    Returns:
        The option of the view that matches no module, if any.
    """
    check_format(path.name, flat=flat, theme=theme)
    if overlay is not None and path.suffix not in DRAWN:
        raise OptionError("overlay", f"{path.suffix} files can't contain it; pictures and .html files can")
    if path.suffix == ".json":
        save(graph, path)
        return None
    if path.suffix in _TEXTS:
        write_document(path, _convert(graph, path.suffix, parse_view(view)).encode())
    elif path.suffix == ".html":
        write_document(path, render_standalone(draw_diagram(graph, view, overlay, recordings)).encode())
    else:
        look = Flat(theme=theme or "light", outlines=path.suffix != ".pdf") if flat or path.suffix != ".svg" else None
        picture, form = _draw(graph, view, look, overlay), _PICTURES[path.suffix]
        _warn_of_missing(picture, form)
        write_document(path, read_content(picture, form))
    return find_unmatched(graph, parse_view(view), overlay.group_names if overlay else ())


def _convert(graph: Graph, suffix: str, view: View) -> str:
    given = {name: getattr(view, name) for name in _TEXT_OPTIONS if getattr(view, name) is not None}
    return str(to_dot(graph, **given).source) if suffix == ".dot" else to_mermaid(graph, **given)


def check_format(
    name: str, *, flat: bool = False, theme: str | None = None, view: Iterable[str] = (), option: str = "path"
) -> None:
    """Reject options that a file format would ignore; call it before the graph is traced, loaded or drawn.

    Args:
        name: The file's name; its suffix is the format.
        flat: Whether a flat picture is wanted.
        theme: The colours, if given.
        view: The names of given view options.
        option: The caller's name for the option with the file name.

    Raises:
        OptionError: for an unknown suffix or theme, and for an option that would be ignored.
    """
    suffix = PurePath(name).suffix
    if suffix not in _SUFFIXES:
        raise OptionError(option, f"expected a name ending in {', '.join(_SUFFIXES)}, got {name!r}")
    if theme is not None and theme not in get_args(Theme):
        raise OptionError("theme", f"expected {' or '.join(get_args(Theme))}, got {theme!r}")
    if flat and suffix not in _PICTURES:
        raise OptionError("flat", f"{suffix} files have no flat form; pictures have: .svg, .png and .pdf")
    if theme is not None and (suffix not in _PICTURES or (suffix == ".svg" and not flat)):
        reason = "contain no picture" if suffix in {".json", *_TEXTS} else "take the colours of the page around them"
        raise OptionError("theme", f"{suffix} files {reason}; a theme is for .png, .pdf and flat .svg files")
    for given in view if suffix in _TEXTS else ():
        if given not in _TEXT_OPTIONS:
            raise OptionError(
                given, f"{suffix} files take {', '.join(_TEXT_OPTIONS[:-1])} and {_TEXT_OPTIONS[-1]} only"
            )
    if suffix != ".html" and "recording" in view:
        raise OptionError("recording", f"{suffix} files show no training; .html files do")
    for given in view if suffix == ".json" else ():
        raise OptionError(given, ".json files contain the whole graph, whatever the view")


def draw_picture(  # noqa: PLR0913  (as `render`)
    graph: Graph,
    view: Mapping[str, Any],
    overlay: Overlay | None = None,
    *,
    flat: Flat | None = None,
    standalone: bool = False,
    remarks: Sequence[str] = (),
) -> Picture:
    """Draw a graph; warn if the overlay names nodes that it doesn't have. For the other arguments, see `render`."""
    gone = overlay.gone(graph) if overlay else ()
    if gone:
        rest = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        warnings.warn(
            f"the overlay was made for another graph: {graph.model.name} has no {gone[0]!r}{rest}; make it again with"
            " `annotate`",
            stacklevel=3,
        )
    beside = Authored(overlay=overlay.without_texts().to_json()) if overlay else None
    return render(graph, parse_view(view), standalone=standalone, flat=flat, beside=beside, remarks=remarks)


def draw_diagram(
    graph: Graph, view: Mapping[str, Any], overlay: Overlay | None = None, recordings: Sequence[PageRecording] = ()
) -> Diagram:
    """Draw a graph as a diagram outside documentation."""
    options = Options(call=Call(model=graph.model.class_), view=parse_view(view))
    return Diagram(
        id=make_diagram_id(options),
        options=options,
        graph=graph,
        picture=draw_picture(graph, view, overlay),
        overlay=overlay,
        recordings=tuple(recordings),
        problem=make_forward_problem(graph.model.name, graph),
    )
