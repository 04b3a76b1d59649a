"""PNG and PDF files, made of flat pictures."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.common.files import digest
from modeldiagrams.errors import RenderError
from modeldiagrams.render.draw import fonts

if TYPE_CHECKING:
    from modeldiagrams.render.draw import Picture

__all__ = ["as_pdf", "as_png", "flat_digest", "library"]

_PT_PER_PX = 0.75
_LONGEST_PDF = 14_400
"""Points; PDF readers refuse larger pages."""

_MOST_PIXELS = 100e6
"""Four bytes each while it is drawn."""

_PAGE = """
#set document(date: none)
#set page(width: {width}pt, height: {height}pt, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg", width: 100%)
"""


def as_png(picture: Picture, scale: float = 2) -> bytes:
    """A flat picture as pixels.

    Args:
        picture: What `render` made with `Flat`.
        scale: Pixels of the file for one CSS pixel; fewer, where the file would have more than 100 million.

    Returns:
        A PNG file.

    Raises:
        RenderError: if resvg-py is not installed, or the PNG file can't be made.
    """
    resvg = library("resvg_py", "png", "PNG files")
    # running out of memory would end the whole process
    zoom = min(scale, math.sqrt(_MOST_PIXELS / (picture.width * picture.height)))
    skip_fonts = not _has_foreign_text(picture.svg)
    try:
        return bytes(resvg.svg_to_bytes(svg_string=picture.svg, zoom=zoom, skip_system_fonts=skip_fonts))
    except ValueError as error:
        raise RenderError(f"the PNG file could not be made: {error}") from error


def as_pdf(picture: Picture) -> bytes:
    """A flat picture as a page of just its size: vector graphics, and text that can be searched and selected.

    Args:
        picture: What `render` made with `Flat(outlines=False)`.

    Returns:
        A PDF file, with its fonts and without dates. A CSS pixel is 0.75 points.

    Raises:
        RenderError: if typst is not installed, or the PDF file can't be made.
    """
    typst = library("typst", "pdf", "PDF files")
    scale = min(_PT_PER_PX, _LONGEST_PDF / max(picture.width, picture.height))
    page = _PAGE.format(width=picture.width * scale, height=picture.height * scale)
    try:
        return bytes(
            typst.compile(
                page.encode(),
                sys_inputs={"svg": picture.svg},
                font_paths=[str(fonts()[0].parent)],
                ignore_system_fonts=not _has_foreign_text(picture.svg),
                # LaTeX warns of newer files
                pdf_standards="1.5",
            )
        )
    except RuntimeError as error:
        raise RenderError(f"the PDF file could not be made: {error}") from error


def flat_digest() -> str:
    """Hash of what makes PNG and PDF files of drawn graphs: this code and the fonts, but not the libraries."""
    return digest(*(path.read_bytes() for path in (Path(__file__), *fonts())))


def _has_foreign_text(svg: str) -> bool:
    """Whether some text needs the machine's fonts. Looking for them takes time, and every machine has others."""
    return 'font-family="sans-serif"' in svg


def library(name: str, extra: str, made: str) -> Any:
    """Import an optional library.

    Args:
        name: The module.
        extra: The extra of this package that installs it.
        made: What it makes, for the error.

    Raises:
        RenderError: if it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        problem = f"{made} are made with {name.replace('_', '-')}, which can't be imported"
        raise RenderError(f'{problem}: pip install "modeldiagrams[{extra}]"') from error
