"""The files beside the pages: the viewer once, each diagram's data, and the list of all diagrams."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.errors import ExtensionError
from sphinxcontrib.serializinghtml import SerializingHTMLBuilder

from modeldiagrams.errors import RenderError
from modeldiagrams.host import FOLDER, data_files
from modeldiagrams.serialize import write_atomically
from modeldiagrams.sitedata import Listed, graph_files, outdated_files, shared_files
from sphinx_modeldiagrams.builders import is_interactive, page_address
from sphinx_modeldiagrams.config import settings_of
from sphinx_modeldiagrams.domain import domain_of
from sphinx_modeldiagrams.nodes import diagram_of, model_graph

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

    from sphinx_modeldiagrams.domain import Entry

__all__ = ["add_everywhere", "write_data", "write_shared"]


def write_data(
    app: Sphinx, _page: str, _template: str, _context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Write the data of a page's diagrams, in whichever process writes the page: equal ids are equal bytes."""
    if doctree is None or not is_interactive(app.builder):
        return
    diagrams = [diagram_of(node) for node in doctree.findall(model_graph)]
    for name, content in {**data_files(diagrams), **graph_files(diagrams)}.items():
        write_atomically(Path(app.outdir) / FOLDER / name, content)


def add_everywhere(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: nodes.document | None
) -> None:
    """Name viewer and style on pages without diagrams, too, where a site wants all assets on all pages.

    Not as Sphinx's own script files: these lie in ``_static`` and carry a digest of what is written only later.
    """
    wanted = app.registry.html_assets_policy == "always" and is_interactive(app.builder)
    # what is written as JSON has no head to put tags into
    if not wanted or isinstance(app.builder, SerializingHTMLBuilder) or not _shown(app):
        return
    address = context["pathto"]
    tags = f'<link rel="stylesheet" href="{address(f"{FOLDER}/model-graph.css", 1)}">'
    if not settings_of(app.config).static_only:
        tags += f'<script src="{address(f"{FOLDER}/model-graph.js", 1)}" defer></script>'
    context["metatags"] = f"{context.get('metatags', '')}\n{tags}"


def write_shared(app: Sphinx, exception: Exception | None) -> None:
    """Write what all diagrams share, if there is any diagram, and remove what an earlier build has left."""
    if exception is not None or not is_interactive(app.builder):
        return
    found, folder = _shown(app), Path(app.outdir) / FOLDER
    listed = [
        Listed(
            id=entry["id"],
            model=entry["model"],
            page=page_address(app.builder, page, entry["place"]["anchor"]),
        )
        for page, entry in found
        # what stands in `.. only:: latex` was read, and not written
        if entry["has_graph"] and (folder / f"{entry['id']}.json").is_file()
    ]
    try:
        files = shared_files(settings_of(app.config), listed) if found else {}
    except RenderError as error:
        raise ExtensionError(f"sphinx_modeldiagrams: {error}") from error
    own = {f"{entry['id']}{ending}" for _, entry in found for ending in _endings(entry)}
    for path in outdated_files(folder, {*files, *own}):
        path.unlink()
    for name, content in files.items():
        write_atomically(folder / name, content)
    if not files:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _shown(app: Sphinx) -> list[tuple[str, Entry]]:
    """Page and diagram, for those that are on one: of what autodoc documents, some is left out."""
    known = domain_of(app.env).diagrams.items()
    return [(page, entry) for page, entries in known for entry in entries if entry["place"]["anchor"]]


def _endings(entry: Entry) -> list[str]:
    """Of the files that are one diagram's."""
    return [".json"] * entry["has_graph"] + [".js"] * entry["interactive"]
