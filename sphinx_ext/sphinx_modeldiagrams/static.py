"""Where pages are not web pages, a diagram is a picture in a file: PDF in LaTeX, flat SVG in EPUB, PNG elsewhere."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from docutils import nodes
from sphinx.util import logging

from modeldiagrams.flat import flat_digest
from modeldiagrams.render import PAGES, view_of, viewer_digest
from modeldiagrams.serialize import serialize, write_atomically

if TYPE_CHECKING:
    from sphinx.builders import Builder

    from modeldiagrams.diagrams import Diagram

__all__ = ["picture_of"]

_FOLDER = "modeldiagrams"
_TIMEOUT = 120
_PIXELS = 2
"""Of a PNG file for one CSS pixel."""
_CAPTION = 0.9
"""A figure is to share its page with its caption."""
_SCREEN = (600.0, 800.0)
"""What readers of books show of a page, in CSS pixels."""

_log = logging.getLogger(__name__)


class _Kind(NamedTuple):
    mimetype: str
    suffix: str
    library: str | None
    """What makes it."""


_KINDS = (
    _Kind("application/pdf", "pdf", "typst"),
    _Kind("image/svg+xml", "svg", None),
    _Kind("image/png", "png", "resvg_py"),
)
"""The best first."""


def picture_of(diagram: Diagram, builder: Builder) -> nodes.image | None:
    """The diagram as an image that the builder copies like any other.

    Args:
        diagram: What to draw. Where its author says nothing else, as much is expanded as is legible on a page.
        builder: What it is for.

    Returns:
        The image; None for builders without pictures, and where nothing can be drawn, which is told once.
    """
    if diagram.graph is None or builder.format not in {"latex", "html"}:
        return None
    kind = _best_kind(builder)
    if kind is None:
        return None
    path = _drawn(diagram, builder, kind)
    if path is None:
        return None
    environment = builder.env
    # as Sphinx's own transforms add images after reading
    environment.images.add_file(environment.docname, str(path))
    if path.is_relative_to(builder.outdir):
        # a book takes whatever pictures lie in its folder, also those of doctrees there
        ours = str(path.relative_to(builder.outdir))
        builder.config.epub_exclude_files = [*builder.config.epub_exclude_files, ours]
    alt = diagram.options.alt or f"Architecture of {diagram.graph.model.name}"
    image = nodes.image("", uri=str(path), candidates={kind.mimetype: str(path)}, alt=alt)
    if kind.suffix == "png":
        image["width"] = f"{_png_width(path) / _PIXELS:.0f}px"
    return image


def _best_kind(builder: Builder) -> _Kind | None:
    """What the builder can show and we can make; tells what to install for more."""
    shown = [kind for kind in _KINDS if kind.mimetype in builder.supported_image_types]
    made = [kind for kind in shown if kind.library is None or importlib.util.find_spec(kind.library)]
    best = made[0] if made else None
    if shown and best != shown[0]:
        wanted = shown[0].suffix
        instead = f"{best.suffix.upper()} files" if best else "text"
        _log.warning(
            'model-graph: diagrams are %s here, because %s files can\'t be made: pip install "modeldiagrams[%s]"',
            instead,
            wanted.upper(),
            wanted,
            type="modeldiagrams",
            subtype="static",
            once=True,
        )
    return best


def _drawn(diagram: Diagram, builder: Builder, kind: _Kind) -> Path | None:
    """The file, drawn in a process of its own unless an earlier build has drawn it.

    What draws is native code that may end its process, and has threads, which don't go with Sphinx's forks.
    """
    if diagram.graph is None:
        return None
    graph = serialize(diagram.graph)
    view = msgspec.structs.replace(view_of(diagram.options), fit=_page(builder))
    options = {name: value for name, value in msgspec.structs.asdict(view).items() if value is not None}
    arguments = [
        f"--{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in options.items()
    ]
    folder = Path(builder.doctreedir) / _FOLDER / _key(arguments, graph)
    path = folder / f"{diagram.id}.{kind.suffix}"
    if path.is_file():
        return path
    # one for each process: `-j` may draw the same for several pages at once
    source = folder / f"graph-{os.getpid()}.json"
    write_atomically(source, graph)
    command = [sys.executable, "-m", "modeldiagrams", "render", str(source), "--flat", "-o", str(path), *arguments]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_TIMEOUT)  # noqa: S603  (our own)
    except (OSError, subprocess.SubprocessError) as error:
        problem = getattr(error, "stderr", None) or str(error)
        _log.warning(
            "model-graph: %s could not be drawn: %s",
            diagram.options.model,
            str(problem).strip().replace(str(source), "its graph"),
            location=builder.env.docname,
            type="modeldiagrams",
            subtype="render",
        )
        return None
    finally:
        source.unlink(missing_ok=True)
    return path


def _key(arguments: list[str], graph: bytes) -> str:
    """Digest of what a picture is made from: what is shown of which graph, and what draws it."""
    made_from = repr((arguments, viewer_digest(), flat_digest())).encode() + graph
    return hashlib.blake2b(made_from, digest_size=8).hexdigest()


def _png_width(path: Path) -> int:
    """In pixels."""
    with path.open("rb") as file:
        return int.from_bytes(file.read(20)[16:])


def _page(builder: Builder) -> tuple[float, float]:
    """Width and height in CSS pixels."""
    if builder.format != "latex":
        return _SCREEN
    paper = builder.config.latex_elements.get("papersize", "letterpaper")
    width, height = PAGES.get(paper.removesuffix("paper"), PAGES["letter"])
    return width, height * _CAPTION
