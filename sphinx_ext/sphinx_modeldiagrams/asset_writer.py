"""Writes the site's ``modeldiagrams/`` folder: diagrams together with their page, shared files at the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.errors import ExtensionError
from sphinxcontrib.serializinghtml import SerializingHTMLBuilder

from modeldiagrams.errors import RenderError
from modeldiagrams.hosting.site_files import FOLDER, IndexEntry, build_diagram_files, build_shared_files, list_files
from modeldiagrams.hosting.site_folder import SiteFolder
from modeldiagrams.options.steps import LONGEST_TOUR
from sphinx_modeldiagrams.builders import makes_web_pages, page_address
from sphinx_modeldiagrams.catalogue_directive import build_all_files
from sphinx_modeldiagrams.conf_values import get_settings
from sphinx_modeldiagrams.diagram_node import model_graph, read_diagram
from sphinx_modeldiagrams.domain import domain_of

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

    from sphinx_modeldiagrams.entries import Entry

__all__ = ["add_everywhere", "write_data", "write_shared"]


def write_data(
    app: Sphinx, _page: str, _template: str, _context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Write the data of a page's diagrams, in any process: equal ids mean equal bytes."""
    if doctree is None or not makes_web_pages(app.builder):
        return
    diagrams = [read_diagram(node, app.env) for node in doctree.findall(model_graph)]
    _find_folder(app).write(build_diagram_files(diagrams, domain_of(app.env).diagram_builder.page_data))


def add_everywhere(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: nodes.document | None
) -> None:
    """Load viewer and style on all pages, if the site sets the assets policy to ``always``.

    Not as Sphinx's script files, which are in ``_static`` with a digest, while ours are written later.
    """
    wanted = app.registry.html_assets_policy == "always" and makes_web_pages(app.builder)
    # pages in JSON have no head for tags
    if not wanted or isinstance(app.builder, SerializingHTMLBuilder) or not _list_shown(app):
        return
    address = context["pathto"]
    tags = f'<link rel="stylesheet" href="{address(f"{FOLDER}/model-graph.css", 1)}">'
    if not get_settings(app.config).static_only:
        tags += f'<script src="{address(f"{FOLDER}/model-graph.js", 1)}" defer></script>'
    context["metatags"] = f"{context.get('metatags', '')}\n{tags}"


def write_shared(app: Sphinx, exception: Exception | None) -> None:
    """Write the shared files if there is any diagram, and remove obsolete files."""
    if exception is not None or not makes_web_pages(app.builder):
        return
    shown, folder = _list_shown(app), _find_folder(app)
    files = build_all_files(app.builder)
    own = {*files}
    entries = []
    for page, entry in shown:
        made = {"graph": entry["has_graph"], "interactive": entry["interactive"]}
        names = list_files(entry["id"], **made)
        own |= list_files(entry["id"], **made, steps=LONGEST_TOUR)
        # a diagram in `.. only:: latex` was read but not written
        if entry["has_graph"] and all(name in folder for name in names):
            url = page_address(app.builder, page, entry["location"]["anchor"])
            known = {"snapshot": entry["snapshot"], "figures": entry["figures"]}
            entries.append(IndexEntry(id=entry["id"], model=entry["model"], page=url, **known))
    try:
        shared = build_shared_files(get_settings(app.config), entries) if shown or files else {}
        folder.finish({**shared, **files}, own, is_whole=True)
    except RenderError as error:
        raise ExtensionError(f"sphinx_modeldiagrams: {error}") from error


def _find_folder(app: Sphinx) -> SiteFolder:
    return SiteFolder(Path(app.outdir) / FOLDER)


def _list_shown(app: Sphinx) -> list[tuple[str, Entry]]:
    """Return all diagrams that are shown on a page, with the page."""
    diagrams = domain_of(app.env).diagrams.items()
    return [(page, entry) for page, entries in diagrams for entry in entries if entry["location"]["anchor"]]
