"""A graph as a picture file: flat SVG, PNG or PDF."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from modeldiagrams.render.draw import Beside, Flat, Picture, Theme, render_json
from modeldiagrams.render.flat import as_pdf, as_png

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.options.options import View

__all__ = ["FileForm", "PictureFile", "content_of", "image_file", "render_file"]

FileForm = Literal["svg", "png", "pdf"]


class PictureFile(msgspec.Struct, frozen=True, kw_only=True):
    """A drawn graph as the content of a file."""

    content: bytes
    width: float
    """CSS pixels."""


def image_file(svg: str, width: float, height: float, form: FileForm) -> PictureFile:
    """An author's SVG as another file.

    Args:
        svg: Its text.
        width: CSS pixels.
        height: CSS pixels.
        form: The file's format.

    Raises:
        RenderError: if it can't be made, or a library for the format is not installed.
    """
    return PictureFile(content=content_of(Picture(svg=svg, width=width, height=height, state={}), form), width=width)


def render_file(
    graph: bytes, view: View, form: FileForm, theme: Theme = "light", beside: Beside | None = None
) -> PictureFile:
    """Draw a graph as a file.

    Args:
        graph: Its JSON text.
        view: What is expanded, and in which direction it runs.
        form: The file's format; SVG is flat, for other programs than browsers.
        theme: The colours.
        beside: What the picture shows besides the graph.

    Returns:
        The file.

    Raises:
        RenderError: if the graph could not be drawn, or a library for the format is not installed.
    """
    picture = render_json(graph, view, Flat(theme=theme, outlines=form != "pdf"), beside=beside)
    return PictureFile(content=content_of(picture, form), width=picture.width)


def content_of(picture: Picture, form: FileForm) -> bytes:
    """A drawn picture in a file's format.

    Raises:
        RenderError: if it can't be made, or a library for the format is not installed.
    """
    return _WRITERS[form](picture)


_WRITERS: dict[FileForm, Callable[[Picture], bytes]] = {
    "svg": lambda drawn: drawn.svg.encode(),
    "png": as_png,
    "pdf": as_pdf,
}
