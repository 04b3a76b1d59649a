"""The directive ``.. model-catalogue:: torchvision.models``, and what builders make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.osutil import relative_uri

from modeldiagrams.common.decoding import decodable
from modeldiagrams.common.files import write_atomically
from modeldiagrams.engine.catalogue.build import build_catalogue
from modeldiagrams.engine.catalogue.entries import Catalogue, Family
from modeldiagrams.engine.catalogue.listing import make_catalogue_id
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.catalogue_pages import name_catalogue, report_catalogue
from modeldiagrams.hosting.reports import report_error
from modeldiagrams.hosting.site_files import FOLDER
from modeldiagrams.html.catalogue_page import build_catalogue_files, render_catalogue
from modeldiagrams.html.catalogue_rows import TITLES, list_groups
from modeldiagrams.html.table_cells import NOTHING
from modeldiagrams.options.catalogue import read_catalogue_text
from sphinx_modeldiagrams.builders import link_document, makes_web_pages, page_address
from sphinx_modeldiagrams.conf_values import get_settings
from sphinx_modeldiagrams.diagram_node import locate_diagrams
from sphinx_modeldiagrams.directive import AnyOption
from sphinx_modeldiagrams.domain import domain_of
from sphinx_modeldiagrams.entries import CatalogueEntry
from sphinx_modeldiagrams.host_directive import HostDirective
from sphinx_modeldiagrams.tables import build_summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.builders import Builder
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator

    from modeldiagrams.engine.catalogue.entries import CatalogueModel
    from modeldiagrams.html.catalogue_data import PageOf

__all__ = ["ModelCatalogueDirective", "ReplaceCatalogues", "build_all_files", "model_catalogue", "visit_catalogue"]

_WITHOUT_PAGES = (
    "its models have no pages, because these are made before Sphinx includes files: write it in the page itself"
)


class model_catalogue(nodes.General, nodes.Element):  # noqa: N801  (as docutils names nodes)
    """A catalogue, by the name of a file next to the doctrees."""


class ModelCatalogueDirective(HostDirective):
    """Lists the models of a library, each with a link to its page."""

    optional_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Callable[[str], Any]]] = AnyOption(
        dict.fromkeys(("exclude", "group-by"), directives.unchanged)
    )

    def run(self) -> list[nodes.Node]:
        """Build the node; called by docutils."""
        try:
            of = {"of": self.arguments[0]} if self.arguments else {}
            options = read_catalogue_text({**of, **self.options}, "\n".join(self.content))
        except ModelDiagramsError as error:
            report_error(self, error, None, "option")
            return [nodes.paragraph("", str(error))]
        domain = domain_of(self.env)
        listed = domain.list_models(options)
        for source in listed.sources:
            self.env.note_dependency(source)
        pages = domain.pages_of.get(self.env.docname, {})
        if not any(pages.values()):
            self.env.note_reread()  # nothing tells when the graph of a model changes
        found = build_catalogue(self.builder, options, self.settings.options, listed)
        # its data has links, which are relative to its page
        problem = "; ".join(filter(None, [found.problem, "" if pages.keys() >= {*listed.models} else _WITHOUT_PAGES]))
        found = msgspec.structs.replace(found, id=name_catalogue(found.id, self.env.docname), problem=problem)
        file = f"{found.id}.json"
        write_atomically(locate_diagrams(self.env, self.env.docname) / file, msgspec.json.encode(found))
        warning = report_catalogue(self, found, None)
        entry = CatalogueEntry(
            id=make_catalogue_id(options),
            models=[*listed.models],
            problem=listed.problem,
            file=file,
            source=self.get_location(),
            warning=warning,
        )
        domain.catalogues.setdefault(self.env.docname, []).append(entry)
        return [model_catalogue("", docname=self.env.docname, file=file)]


def visit_catalogue(self: HTML5Translator, node: model_catalogue) -> None:
    """Write the table, from which a script makes cards."""
    builder, docname = self.builder, node["docname"]
    assets = relative_uri(builder.get_target_uri(builder.current_docname), f"{FOLDER}/")
    interactive = not get_settings(builder.config).static_only
    self.body += [f'<span id="{id_}"></span>' for id_ in node["ids"]]
    found, page_of = _read(builder.env, docname, node["file"]), _link_pages(builder, docname)
    self.body.append(render_catalogue(found, assets=assets, page_of=page_of, interactive=interactive))
    raise nodes.SkipNode


def build_all_files(builder: Builder) -> dict[str, bytes]:
    """Build the files of all catalogues in the site's folder."""
    files: dict[str, bytes] = {}
    for docname, entries in domain_of(builder.env).catalogues.items():
        back = relative_uri(f"{FOLDER}/", page_address(builder, docname, None))
        page_of, interactive = _link_pages(builder, docname), not get_settings(builder.config).static_only
        for entry in entries:
            found = _read(builder.env, docname, entry["file"])
            files |= build_catalogue_files(found, page_of, back=back, interactive=interactive)
    return files


def _read(env: BuildEnvironment, docname: str, file: str) -> Catalogue:
    return msgspec.json.decode((locate_diagrams(env, docname) / file).read_bytes(), type=decodable(Catalogue))


def _link_pages(builder: Builder, docname: str) -> PageOf:
    """Return a function from models to addresses relative to the page of their catalogue."""
    pages = domain_of(builder.env).pages_of.get(docname, {})

    def link(model: CatalogueModel) -> str | None:
        page = pages.get(model.name)
        return page and builder.get_relative_uri(docname, page)

    return link


class ReplaceCatalogues(SphinxPostTransform):
    """Replaces catalogues by tables for builders other than HTML."""

    default_priority = 200

    def run(self, **_: Any) -> None:
        """Replace all nodes; called by Sphinx."""
        if makes_web_pages(self.app.builder):
            return
        for node in list(self.document.findall(model_catalogue)):
            node.replace_self(self._build(_read(self.env, node["docname"], node["file"]), node["docname"]))

    def _build(self, found: Catalogue, docname: str) -> tuple[nodes.Node, ...]:
        models = [model for family in found.families for model in family.models]
        if not models:
            return (nodes.paragraph("", found.problem),)
        singles = tuple(Family(name=model.name, models=(model,)) for model in models)
        groups = list_groups(msgspec.structs.replace(found, families=singles), whole=True)
        rows = [row for _, rows in groups for row in rows]
        columns = [title for title in TITLES if any(row.cells.get(title, NOTHING) != NOTHING for row in rows)]
        table: list[list[nodes.Node]] = [[nodes.Text(title) for title in ("Model", *columns)]]
        for row in rows:
            cells = [nodes.Text(row.cells.get(title, NOTHING)) for title in columns]
            table.append([self._link(row.family.models[0], docname), *cells])
        return build_summary(table, numbers=[at for at, title in enumerate(columns, start=1) if title != "Inputs"])

    def _link(self, model: CatalogueModel, docname: str) -> nodes.Element:
        text = nodes.literal("", model.name)
        page = domain_of(self.env).pages_of.get(docname, {}).get(model.name)
        return link_document(self.app.builder, self.env.docname, page, "", text) if page else text
