"""Draws picture files for builders without HTML pages: PDF for LaTeX, flat SVG for EPUB, PNG for others."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from docutils import nodes
from sphinx.util import logging

from modeldiagrams.common.files import digest, write_atomically
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.reading import PAGES
from modeldiagrams.render.draw import Authored
from modeldiagrams.render.glyphs import describe_missing
from sphinx_modeldiagrams.domain import domain_of
from sphinx_modeldiagrams.image_nodes import SIZE
from sphinx_modeldiagrams.reporting import warn

if TYPE_CHECKING:
    from sphinx.builders import Builder

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.render.picture_file import FileForm, PictureFile

__all__ = ["draw_picture", "replace_svg"]

_log = logging.getLogger(__name__)

_FOLDER = "modeldiagrams-pictures"
_CAPTION = 0.9
"""The picture's part of a page's height; the caption needs the rest."""
_STEP = 0.4
"""The same for a step of a tour, which has prose, too."""
_SCREEN = (600.0, 800.0)
"""Page size of e-book readers, in CSS pixels."""


_SVG = "image/svg+xml"


class _Format(NamedTuple):
    mimetype: str
    form: FileForm
    library: str | None
    """The package that writes the format."""


_FORMATS = (
    _Format("application/pdf", "pdf", "typst"),
    _Format(_SVG, "svg", None),
    _Format("image/png", "png", "resvg_py"),
)
"""The best first."""


def draw_picture(diagram: Diagram, builder: Builder, *, step: int | None = None, alt: str = "") -> nodes.image | None:
    """Draw a diagram as an image that the builder copies like any other.

    Args:
        diagram: What to draw. Where its author says nothing else, as much is expanded as is legible on a page.
        builder: What it is for.
        step: Of a tour, from 0; None for the diagram's own picture.
        alt: Text for readers who do not see it; by default that of the diagram.

    Returns:
        The image; None for builders without pictures, where no library makes any, and after a warning where it can't
        be drawn.
    """
    compared = diagram.comparison if diagram.picture else None
    graph = compared.after if compared else diagram.graph
    if graph is None or builder.format not in {"latex", "html"}:
        return None
    kind = _choose_format(builder)
    picture = _draw(diagram, graph, builder, kind.form, step) if kind else None
    if kind is None or picture is None:
        return None
    # ids come from what authors wrote, and site defaults or limits may make other pictures of it
    path = _write_file(f"{diagram.id}-{digest(picture.content, size=4)}.{kind.form}", picture.content, builder)
    alt = (
        alt
        or diagram.options.figure.alt
        or f"{'What changed in' if compared else 'Architecture of'} {graph.model.name}"
    )
    image = nodes.image("", uri=path, candidates={kind.mimetype: path}, alt=alt)
    if kind.form == "png":
        image["width"] = f"{picture.width:.0f}px"
    return image


def _write_file(name: str, content: bytes, builder: Builder) -> str:
    """Write a picture file that the builder copies like any other; return its path."""
    path = Path(builder.doctreedir) / _FOLDER / name
    write_atomically(path, content)
    environment = builder.env
    # as Sphinx's own transforms add images after reading
    environment.images.add_file(environment.docname, str(path))
    if path.is_relative_to(builder.outdir):
        # an e-book includes all pictures in its folder, also those of doctrees there, of this build and earlier ones
        ours = {str(file.relative_to(builder.outdir)) for file in path.parent.iterdir()}
        builder.config.epub_exclude_files = sorted({*builder.config.epub_exclude_files, *ours})
    return str(path)


def replace_svg(image: nodes.image, builder: Builder) -> None:
    """Write an author's image as a file that the builder can use, or else only keep its text."""
    if _SVG not in image["candidates"] or _SVG in builder.supported_image_types:
        return
    kind, svg = _choose_format(builder), Path(image["uri"]).read_text("utf-8")
    try:
        made = kind and domain_of(builder.env).diagram_builder.draw_image(svg, image[SIZE], kind.form)
    except ModelDiagramsError as error:
        warn("render", f"the image {image['alt']!r} could not be drawn: {error}", builder.env.docname)
        made = None
    if kind is None or made is None:
        image.parent.remove(image)
        return
    path = _write_file(f"image-{digest(svg.encode(), size=4)}.{kind.form}", made.content, builder)
    image["uri"], image["candidates"] = path, {kind.mimetype: path}


def _choose_format(builder: Builder) -> _Format | None:
    """Choose the best format that the builder accepts and an installed library writes; log if another is better."""
    shown = [kind for kind in _FORMATS if kind.mimetype in builder.supported_image_types]
    made = [kind for kind in shown if kind.library is None or importlib.util.find_spec(kind.library)]
    best = made[0] if made else None
    if shown and best != shown[0]:
        wanted = shown[0].form
        instead = f"{best.form.upper()} files" if best else "text"
        _inform(
            f'model-graph: diagrams are {instead} here; for {wanted.upper()}: pip install "modeldiagrams[{wanted}]"'
        )
    return best


@functools.cache
def _inform(message: str) -> None:
    """Log a line once; it is no warning, because the site must build with ``-W``."""
    _log.info("%s", message)


def _draw(diagram: Diagram, graph: Graph, builder: Builder, form: FileForm, step: int | None) -> PictureFile | None:
    """Let the worker draw a picture file, because native code may crash and its threads don't survive forks."""
    width, height = _measure_page(builder)
    page = (width, height) if step is None else (width, height * _STEP)
    view = msgspec.structs.replace(diagram.options.view, fit=page)
    beside = diagram.beside
    if isinstance(beside, Authored):
        shown = (beside.steps[step],) if step is not None else ()
        beside = msgspec.structs.replace(beside, steps=shown)
    try:
        file = domain_of(builder.env).diagram_builder.draw_file(graph, view, form, beside=beside)
    except ModelDiagramsError as error:
        warn("render", f"{diagram.options.call.model} could not be drawn: {error}", builder.env.docname)
        return None
    if file.missing:
        warn("render", f"{diagram.options.call.model}: {describe_missing(file.missing)}", builder.env.docname)
    return file


def _measure_page(builder: Builder) -> tuple[float, float]:
    """Return width and height in CSS pixels."""
    if builder.format != "latex":
        return _SCREEN
    paper = builder.config.latex_elements.get("papersize", "letterpaper")
    width, height = PAGES.get(paper.removesuffix("paper"), PAGES["letter"])
    return width, height * _CAPTION
