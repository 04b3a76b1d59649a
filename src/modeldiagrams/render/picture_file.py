"""A graph as a picture file: flat SVG, PNG or PDF."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from modeldiagrams.render.draw import Beside, Flat, Theme, render_json
from modeldiagrams.render.flat import as_pdf, as_png

if TYPE_CHECKING:
    from modeldiagrams.options.options import View

__all__ = ["FileForm", "PictureFile", "render_file"]

FileForm = Literal["svg", "png", "pdf"]


class PictureFile(msgspec.Struct, frozen=True, kw_only=True):
    """A drawn graph as the content of a file."""

    content: bytes
    width: float
    """CSS pixels."""


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
    writers = {"svg": lambda drawn: drawn.svg.encode(), "png": as_png, "pdf": as_pdf}
    return PictureFile(content=writers[form](picture), width=picture.width)
