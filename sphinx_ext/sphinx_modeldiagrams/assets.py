"""The files beside the pages: the viewer once, and each diagram's data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.errors import ExtensionError

from modeldiagrams.errors import RenderError
from modeldiagrams.host import FOLDER, data_files
from modeldiagrams.page import site_files
from modeldiagrams.serialize import write_atomically
from sphinx_modeldiagrams.domain import domain_of
from sphinx_modeldiagrams.nodes import diagram_of, model_graph

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.builders import Builder

__all__ = ["is_interactive", "write_data", "write_viewer"]


def is_interactive(builder: Builder) -> bool:
    """Whether readers get web pages. Books made of HTML (EPUB, HTML Help) are not: they are ``embedded``."""
    return builder.format == "html" and not getattr(builder, "embedded", False)


def write_data(
    app: Sphinx, _page: str, _template: str, _context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Write the data of a page's diagrams, in whichever process writes the page: equal ids are equal bytes."""
    if doctree is None or not is_interactive(app.builder):
        return
    for name, content in data_files(diagram_of(node) for node in doctree.findall(model_graph)).items():
        write_atomically(Path(app.outdir) / FOLDER / name, content)


def write_viewer(app: Sphinx, exception: Exception | None) -> None:
    """Write what all diagrams share, if there is any diagram."""
    if exception is not None or not is_interactive(app.builder) or not domain_of(app.env).diagrams:
        return
    try:
        files = site_files()
    except RenderError as error:
        raise ExtensionError(f"sphinx_modeldiagrams: {error}") from error
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.read_bytes()
        write_atomically(Path(app.outdir) / FOLDER / name, data)
