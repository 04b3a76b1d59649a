"""Draws a graph as a picture file: flat SVG, PNG or PDF."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from modeldiagrams.render.draw import Beside, Flat, Picture, Theme, render_json
from modeldiagrams.render.flat import find_missing_text, write_pdf, write_png

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.options.options import View

__all__ = ["FileForm", "PictureFile", "convert_image", "read_content", "render_file"]

FileForm = Literal["svg", "png", "pdf"]


class PictureFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a picture file."""

    content: bytes
    width: float
    """CSS pixels."""
    missing: str = ""
    """Characters that no font of the machine has."""


def convert_image(svg: str, width: float, height: float, form: FileForm) -> PictureFile:
    """Convert an author's SVG to another format.

    Args:
        svg: The SVG.
        width: The width in CSS pixels.
        height: The height in CSS pixels.
        form: The file's format.

    Raises:
        RenderError: if it can't be converted, or a library for the format is not installed.
    """
    return PictureFile(content=read_content(Picture(svg=svg, width=width, height=height, state={}), form), width=width)


def render_file(
    graph: bytes, view: View, form: FileForm, theme: Theme = "light", beside: Beside | None = None
) -> PictureFile:
    """Draw a graph as a file.

    Args:
        graph: The graph's JSON text.
        view: The initial view.
        form: The file's format; SVG is flat, for programs other than browsers.
        theme: The colours.
        beside: Content of the picture in addition to the graph.

    Returns:
        The file.

    Raises:
        RenderError: if the graph could not be drawn, or a library for the format is not installed.
    """
    picture = render_json(graph, view, Flat(theme=theme, outlines=form != "pdf"), beside=beside)
    content = read_content(picture, form)
    return PictureFile(content=content, width=picture.width, missing=find_missing_text(picture, form))


def read_content(picture: Picture, form: FileForm) -> bytes:
    """Convert a drawn picture to a file format.

    Raises:
        RenderError: if it can't be made, or a library for the format is not installed.
    """
    return _WRITERS[form](picture)


_WRITERS: dict[FileForm, Callable[[Picture], bytes]] = {
    "svg": lambda drawn: drawn.svg.encode(),
    "png": write_png,
    "pdf": write_pdf,
}
