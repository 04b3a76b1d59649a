"""Makes PNG and PDF files from flat pictures."""

from __future__ import annotations

import base64
import importlib
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.common.files import digest
from modeldiagrams.errors import RenderError
from modeldiagrams.render.draw import load_fonts
from modeldiagrams.render.glyphs import find_missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.render.draw import Picture

__all__ = ["digest_flat", "find_missing_text", "require", "write_pdf", "write_png"]

_PT_PER_PX = 0.75
_LONGEST_PDF = 14_400
"""In points; PDF readers refuse larger pages."""

_MOST_PIXELS = 100e6
"""Each pixel takes four bytes while drawing."""

_TEXT = re.compile(r"<(\w+:)?text\b")
_OUR_FONT = 'font-family="Inter,'

_THUMBNAIL_SCALE = 4
"""Pixels per CSS pixel of a thumbnail that can't stay SVG."""

_SVG_IMAGE = re.compile(
    r'(?P<start>xlink:href="data:image/)svg\+xml;base64,(?P<data>[^"]*)(?P<rest>"[^>]* width="(?P<width>\d+)")'
)

_THUMBNAIL = """
#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg", width: float(sys.inputs.width) * 1pt)
"""

_ALONE = """
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="99" height="99">{}</svg>
"""

_PAGE = """
#set document(date: none)
#set page(width: {width}pt, height: {height}pt, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg", width: 100%)
"""


def write_png(picture: Picture, scale: float = 2) -> bytes:
    """Convert a flat picture to PNG.

    Args:
        picture: A picture that `render` made with `Flat`.
        scale: Pixels per CSS pixel; reduced if the file would have more than 100 million pixels.

    Returns:
        A PNG file.

    Raises:
        RenderError: if resvg-py is not installed, or the PNG file can't be made.
    """
    resvg = require("resvg_py", "png", "PNG files")
    # running out of memory would end the whole process
    zoom = min(scale, math.sqrt(_MOST_PIXELS / (picture.width * picture.height)))
    skip_fonts = not _has_foreign_text(picture.svg)

    def drawn(svg: str) -> bytes:
        svg = _set_pixels(svg, _PIXELS["png"])
        return bytes(resvg.svg_to_bytes(svg_string=svg, zoom=zoom, skip_system_fonts=skip_fonts))

    try:
        return drawn(picture.svg)
    except ValueError as error:
        if plain := _drop_unreadable(picture, drawn, ValueError):
            return write_png(plain, scale)
        raise RenderError(f"the PNG file could not be made: {error}") from error


def write_pdf(picture: Picture) -> bytes:
    """Convert a flat picture to a PDF page of its size, with vector graphics and searchable text.

    Args:
        picture: A picture that `render` made with `Flat(outlines=False)`.

    Returns:
        A PDF file, with its fonts and without dates. A CSS pixel is 0.75 points.

    Raises:
        RenderError: if typst is not installed, or the PDF file can't be made.
    """
    typst = require("typst", "pdf", "PDF files")
    scale = min(_PT_PER_PX, _LONGEST_PDF / max(picture.width, picture.height))
    page = _PAGE.format(width=picture.width * scale, height=picture.height * scale)

    def drawn(svg: str) -> bytes:
        return bytes(
            typst.compile(
                page.encode(),
                sys_inputs={"svg": _set_pixels(svg, _PIXELS["pdf"])},
                font_paths=[str(load_fonts()[0].parent)],
                ignore_system_fonts=not _has_foreign_text(picture.svg),
                # LaTeX warns of newer files
                pdf_standards="1.5",
            )
        )

    try:
        return drawn(picture.svg)
    except RuntimeError as error:
        if plain := _drop_unreadable(picture, drawn, RuntimeError):
            return write_pdf(plain)
        raise RenderError(f"the PDF file could not be made: {error}") from error


def find_missing_text(picture: Picture, form: str) -> str:
    """Return the characters of a picture that no font has, for a file of this format; none if its reader has the fonts.

    Raises:
        RenderError: if the library for the format is not installed.
    """
    return find_missing(picture.svg, _PIXELS[form]) if form in _PIXELS else ""


def _draw_with_resvg(svg: str, width: int) -> bytes:
    return bytes(require("resvg_py", "png", "PNG files").svg_to_bytes(svg_string=svg, width=width))


def _draw_with_typst(svg: str, width: int) -> bytes:
    typst, inputs = require("typst", "pdf", "PDF files"), {"svg": svg, "width": f"{width}"}
    return bytes(typst.compile(_THUMBNAIL.encode(), sys_inputs=inputs, format="png", ppi=72))


_PIXELS = {"png": _draw_with_resvg, "pdf": _draw_with_typst}
"""For each format, converts an SVG to a PNG file of a width, with the machine's fonts."""


def _drop_unreadable(picture: Picture, drawn: Callable[[str], bytes], failure: type[Exception]) -> Picture | None:
    """Remove only the images that a library can't read."""

    def kept(found: re.Match[str]) -> str:
        try:
            drawn(_ALONE.format(found[0]))
        except failure:
            return ""
        return found[0]

    svg = re.sub(r"<image [^>]*>", kept, picture.svg)
    return None if svg == picture.svg else msgspec.structs.replace(picture, svg=svg)


def _set_pixels(svg: str, pixels: Callable[[str, int], Any]) -> str:
    """Convert SVG images with text to pixels, because both libraries omit text of nested SVG.

    Args:
        svg: A flat picture.
        pixels: Converts an SVG to a PNG file of a width.
    """

    def drawn(found: re.Match[str]) -> str:
        image = base64.b64decode(found["data"])
        if b"text" not in image:
            return found[0]
        file = pixels(image.decode(), int(found["width"]) * _THUMBNAIL_SCALE)
        return f"{found['start']}png;base64,{base64.b64encode(file).decode()}{found['rest']}"

    return _SVG_IMAGE.sub(drawn, svg)


def digest_flat() -> str:
    """Return a hash of this code and the fonts, without the libraries that make PNG and PDF files."""
    return digest(*(path.read_bytes() for path in (Path(__file__), *load_fonts())))


def _has_foreign_text(svg: str) -> bool:
    """Whether some text needs the machine's fonts, which take time to find and differ between machines."""
    is_of_others = _TEXT.search(svg) and _OUR_FONT not in svg
    return bool(is_of_others) or 'font-family="sans-serif"' in svg


def require(name: str, extra: str, made: str) -> Any:
    """Import an optional library.

    Args:
        name: The module.
        extra: The extra of this package that installs it.
        made: The kind of files it makes, for the error.

    Raises:
        RenderError: if it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        problem = f"{made} are made with {name.replace('_', '-')}, which can't be imported"
        raise RenderError(f'{problem}: pip install "modeldiagrams[{extra}]"') from error
