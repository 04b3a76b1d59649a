"""Graph → file: a picture, an interactive page, or the graph itself. Draws in this process."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, get_args

from modeldiagrams.diagrams import Diagram, diagram_id, forward_problem
from modeldiagrams.errors import OptionError
from modeldiagrams.flat import Theme, as_pdf, as_png, flattened
from modeldiagrams.options import Options
from modeldiagrams.page import standalone
from modeldiagrams.render import render, view_from
from modeldiagrams.serialize import save, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from modeldiagrams.graph import Graph

__all__ = ["check_form", "drawn", "to_html", "to_pdf", "to_png", "to_svg", "write"]

_FORMS = (".json", ".svg", ".png", ".pdf", ".html")


def to_svg(graph: Graph, *, flat: bool = False, theme: Theme | None = None, **view: Any) -> str:
    """Draw a graph as an SVG file.

    Args:
        graph: What to draw.
        flat: Whether it is for what is no browser (drawing programs, books): without a style sheet, with text as
            outlines. Otherwise it has light and dark colours, and the reader's font.
        theme: ``light`` (by default) or ``dark``, for a flat one; others have both.
        **view: `depth`, `expand`, `collapse` and `direction`, as in `Options`; and `fit`, the width and height in CSS
            pixels of the page it is for (or ``a4`` or ``letter``): as much is expanded as stays legible there, in the
            direction that shows more, and the picture is no larger. `depth` and `expand` count unless that makes it
            tiny.

    Returns:
        The SVG.

    Raises:
        OptionError: for a wrong keyword, or a theme of a picture that is not flat.
        RenderError: if the graph can't be drawn.
    """
    check_form("picture.svg", flat=flat, theme=theme)
    if not flat:
        return render(graph, view_from(view), standalone=True).svg
    return flattened(render(graph, view_from(view)), theme or "light").svg


def to_png(graph: Graph, *, theme: Theme = "light", scale: float = 2, **view: Any) -> bytes:
    """Draw a graph as a PNG file; needs ``pip install "modeldiagrams[png]"``.

    Args:
        graph: What to draw.
        theme: ``light`` or ``dark``.
        scale: Pixels of the file for one CSS pixel; fewer, where the file would have more than 100 million.
        **view: As in `to_svg`.

    Returns:
        The file's content.

    Raises:
        OptionError: for a wrong keyword.
        RenderError: if resvg-py is not installed, or the graph can't be drawn.
    """
    check_form("picture.png", theme=theme)
    if not (isinstance(scale, int | float) and scale > 0):
        raise OptionError("scale", f"expected a number above 0, got {scale!r}")
    return as_png(render(graph, view_from(view)), theme, scale)


def to_pdf(graph: Graph, *, theme: Theme = "light", **view: Any) -> bytes:
    """Draw a graph as a PDF file of one page, as large as the picture; needs ``pip install "modeldiagrams[pdf]"``.

    Args:
        graph: What to draw.
        theme: ``light`` or ``dark``.
        **view: As in `to_svg`.

    Returns:
        The file's content: vector graphics, and text that can be searched.

    Raises:
        OptionError: for a wrong keyword.
        RenderError: if typst is not installed, or the graph can't be drawn.
    """
    check_form("picture.pdf", theme=theme)
    return as_pdf(render(graph, view_from(view)), theme)


def to_html(graph: Graph, **view: Any) -> str:
    """Draw a graph as one self-contained, interactive HTML file.

    Args:
        graph: What to draw.
        **view: `depth`, `expand`, `collapse` and `direction`, as in `Options`.

    Returns:
        The document. It loads nothing from anywhere.

    Raises:
        OptionError: for a wrong view keyword.
        RenderError: if the graph can't be drawn.
    """
    return standalone(drawn(graph, view))


def write(graph: Graph, path: Path, view: Mapping[str, Any], *, flat: bool = False, theme: Theme | None = None) -> None:
    """Write a graph in the form that the file's suffix asks for; see `ModelDiagram.save`."""
    check_form(path.name, flat=flat, theme=theme)
    if path.suffix == ".json":
        save(graph, path)
        return
    makers: dict[str, Callable[[], str | bytes]] = {
        ".svg": lambda: to_svg(graph, flat=flat, theme=theme, **view),
        ".png": lambda: to_png(graph, theme=theme or "light", **view),
        ".pdf": lambda: to_pdf(graph, theme=theme or "light", **view),
        ".html": lambda: to_html(graph, **view),
    }
    made = makers[path.suffix]()
    write_atomically(path, made.encode() if isinstance(made, str) else made)


def check_form(name: str, *, flat: bool = False, theme: str | None = None, view: Iterable[str] = ()) -> None:
    """Complain of what a form of file has no place for; to be called before a graph is traced, loaded or drawn.

    Args:
        name: The file's, whose suffix says which form it is of.
        flat: Whether the picture is to be flat.
        theme: Whose colours it is to have; None where nobody says.
        view: Names of the view's options that somebody has given.

    Raises:
        OptionError: for another suffix or theme, and for what would be ignored.
    """
    suffix = PurePath(name).suffix
    if suffix not in _FORMS:
        raise OptionError("path", f"expected a name ending in {', '.join(_FORMS)}, got {name!r}")
    if theme is not None and theme not in get_args(Theme):
        raise OptionError("theme", f"expected {' or '.join(get_args(Theme))}, got {theme!r}")
    if flat and suffix in {".json", ".html"}:
        raise OptionError("flat", f"{suffix} files have no flat form; pictures have: .svg, .png and .pdf")
    if theme is not None and (suffix in {".json", ".html"} or (suffix == ".svg" and not flat)):
        reason = "hold no picture" if suffix == ".json" else "have the colours of the page they are shown on"
        raise OptionError("theme", f"{suffix} files {reason}; for .png, .pdf and flat .svg files")
    for option in view if suffix == ".json" else ():
        raise OptionError(option, ".json files hold the whole graph, however it is looked at")


def drawn(graph: Graph, view: Mapping[str, Any]) -> Diagram:
    """A graph as a diagram of its own, without documentation around it."""
    first = view_from(view)
    options = Options(
        model=graph.model.class_,
        depth=first.depth,
        expand=first.expand,
        collapse=first.collapse,
        direction=first.direction,
    )
    return Diagram(
        id=diagram_id(options),
        options=options,
        graph=graph,
        picture=render(graph, first),
        problem=forward_problem(graph.model.name, graph),
    )
