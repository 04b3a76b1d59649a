"""Pictures for what is no browser: flat SVG, PNG and PDF, all made of the picture that pages show."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from modeldiagrams.assets import asset
from modeldiagrams.errors import RenderError
from modeldiagrams.v8 import evaluate

if TYPE_CHECKING:
    from modeldiagrams.render import Picture

__all__ = ["Theme", "as_pdf", "as_png", "flat_digest", "flattened"]

Theme = Literal["light", "dark"]

_FONTS = ("inter-regular.ttf", "inter-semibold.ttf")
_PT_PER_PX = 0.75
_LONGEST_PDF = 14_400
"""Points; readers of PDF refuse larger pages."""

_MOST_PIXELS = 100e6
"""Four bytes each while it is drawn."""

_PAGE = """
#set document(date: none)
#set page(width: {width}pt, height: {height}pt, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg", width: 100%)
"""


def flattened(picture: Picture, theme: Theme = "light", *, outlines: bool = True) -> Picture:
    """The picture as SVG that needs no browser: plain colours, no style sheet, no variables.

    Args:
        picture: What `render` made.
        theme: Whose colours it gets.
        outlines: Whether text becomes shapes, which look the same everywhere. Otherwise it is text in the font Inter,
            or in another font without serifs.

    Returns:
        The flat picture. Text with characters that Inter does not have, e.g. Chinese, stays text in any case.

    Raises:
        RenderError: if the viewer was not built.
    """
    viewer = asset("flat.js")
    if evaluate("String(modelDiagrams.hasFonts())", viewer) == "false":
        fonts = ", ".join(_bytes_as_text(asset(name)) for name in _FONTS)
        evaluate(f"modelDiagrams.useFonts({fonts})", viewer)
    arguments = ", ".join(json.dumps(value) for value in (picture.svg, theme, outlines))
    return msgspec.structs.replace(picture, svg=evaluate(f"modelDiagrams.flat({arguments})", viewer))


def as_png(picture: Picture, theme: Theme = "light", scale: float = 2) -> bytes:
    """The picture as pixels.

    Args:
        picture: What `render` made.
        theme: Whose colours it gets.
        scale: Pixels of the file for one CSS pixel; fewer, where the file would have more than 100 million.

    Returns:
        A PNG file.

    Raises:
        RenderError: if resvg-py is not installed, the viewer was not built, or the PNG file can't be made.
    """
    resvg = _library("resvg_py", "png")
    svg = flattened(picture, theme).svg
    # it would end the whole process where memory does not suffice
    zoom = min(scale, math.sqrt(_MOST_PIXELS / (picture.width * picture.height)))
    try:
        return bytes(resvg.svg_to_bytes(svg_string=svg, zoom=zoom, skip_system_fonts=not _has_foreign_text(svg)))
    except ValueError as error:
        raise RenderError(f"the PNG file could not be made: {error}") from error


def as_pdf(picture: Picture, theme: Theme = "light") -> bytes:
    """The picture as a page of just its size: vector graphics, and text that can be searched and selected.

    Args:
        picture: What `render` made.
        theme: Whose colours it gets.

    Returns:
        A PDF file, with its fonts and without dates. A CSS pixel is 0.75 points.

    Raises:
        RenderError: if typst is not installed, the viewer was not built, or the PDF can't be made.
    """
    typst = _library("typst", "pdf")
    svg = flattened(picture, theme, outlines=False).svg
    scale = min(_PT_PER_PX, _LONGEST_PDF / max(picture.width, picture.height))
    page = _PAGE.format(width=picture.width * scale, height=picture.height * scale)
    folder = str(asset(_FONTS[0]).parent)
    try:
        return bytes(
            typst.compile(
                page.encode(),
                sys_inputs={"svg": svg},
                font_paths=[folder],
                ignore_system_fonts=not _has_foreign_text(svg),
                # LaTeX grumbles at newer files
                pdf_standards="1.5",
            )
        )
    except RuntimeError as error:
        raise RenderError(f"the PDF file could not be made: {error}") from error


def flat_digest() -> str:
    """Hash of what makes pictures flat, other people's libraries apart: code and fonts."""
    digest = hashlib.blake2b(digest_size=16)
    for path in (Path(__file__), asset("flat.js"), *map(asset, _FONTS)):
        content = path.read_bytes()
        digest.update(len(content).to_bytes(8) + content)
    return digest.hexdigest()


def _has_foreign_text(svg: str) -> bool:
    """Whether some text needs the machine's fonts; to look for them takes time, and every machine has others."""
    return 'font-family="sans-serif"' in svg


def _library(name: str, kind: Literal["png", "pdf"]) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.replace("_", "-")
        problem = f"{kind.upper()} files are made with {package}, which can't be imported"
        raise RenderError(f'{problem}: pip install "modeldiagrams[{kind}]"') from error


def _bytes_as_text(path: Path) -> str:
    """A file's content as a string of a script, a character for each byte."""
    return json.dumps(path.read_bytes().decode("latin-1"), ensure_ascii=False)
