"""The directives `model-changes` and `model-history`, and lists of changes as docutils nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from modeldiagrams.engine.compare.history import TITLES
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.reports import report_error
from modeldiagrams.hosting.version_requests import read_changes, read_history
from modeldiagrams.html.changelog import Place, build_changelog
from modeldiagrams.html.history_chart import render_history_chart
from sphinx_modeldiagrams.builders import link_document
from sphinx_modeldiagrams.domain import domain_of
from sphinx_modeldiagrams.host_directive import HostDirective
from sphinx_modeldiagrams.tables import build_summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.html.change_list import ChangeList, ChangeRow
    from modeldiagrams.html.changelog import ModelChanges

__all__ = ["ListModelChanges", "ModelChangesDirective", "ModelHistoryDirective", "build_changes", "model_changes"]


class model_changes(nodes.General, nodes.Element):  # noqa: N801  (as docutils names nodes)
    """The changes of all models, until it is known which page shows each."""


def build_changes(found: ChangeList) -> list[nodes.Node]:
    """Build the list of changes, between lines about the model and lines about its weights."""
    rows = [nodes.list_item("", _build_row(row)) for row in found.rows]
    if found.rest:
        rows.append(nodes.list_item("", nodes.paragraph("", found.rest)))
    return [_build_lines(found.head), nodes.bullet_list("", *rows), _build_lines(found.weights)]


class _VersionsDirective(HostDirective):
    """Shows what changed between versions, from committed graphs."""

    optional_arguments = 1
    has_content = True  # for fences of Markdown

    def content_for(self, text: str) -> list[nodes.Node]:
        """Build the content for an author's text.

        Raises:
            ModelDiagramsError: if it is invalid.
        """
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Build the nodes; called by docutils."""
        self.env.note_reread()  # a revision or an address may have other graphs next time
        try:
            return self.content_for(" ".join([*self.arguments, *self.content]))
        except ModelDiagramsError as error:
            report_error(self, error, None)
            return [nodes.paragraph("", str(error))]


class ModelChangesDirective(_VersionsDirective):
    """Shows the changes of all models since another version."""

    def content_for(self, text: str) -> list[nodes.Node]:
        """Build a node that `ListModelChanges` replaces."""
        return [model_changes("", found=read_changes(self, text))]


class ModelHistoryDirective(_VersionsDirective):
    """Shows one model in all releases."""

    def content_for(self, text: str) -> list[nodes.Node]:
        """Build a chart for HTML, and a table."""
        found = read_history(self, text)
        head: list[nodes.Node] = [nodes.Text(title) for title in TITLES]
        rows = [[*map(nodes.Text, release.cells()), _build_lines(release.changes())] for release in found.releases]
        spec, table = build_summary([head, *rows], numbers=(2, 3))
        table["classes"] = ["colwidths-auto"]
        return [nodes.raw("", render_history_chart(found), format="html"), spec, table]


class ListModelChanges(SphinxPostTransform):
    """Lists the changes of the models that the documentation shows, with links to their pages."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Replace all nodes; called by Sphinx."""
        for node in list(self.document.findall(model_changes)):
            log = build_changelog(node["found"], self._find_places())
            entries = [part for model in log.models for part in self._build_entry(model)]
            node.replace_self([*entries, *(nodes.paragraph("", remark, classes=["mg-told"]) for remark in log.remarks)])

    def _find_places(self) -> dict[str, Place]:
        """Map snapshots to the documents that show them; an address is the name of a document and an anchor."""
        places: dict[str, Place] = {}
        for docname, entry in domain_of(self.env).list_shown():
            address = f"{docname}#{entry['location']['anchor']}"
            places.setdefault(entry["snapshot"], Place(address, self.env.titles[docname].astext()))
        return places

    def _build_entry(self, model: ModelChanges) -> list[nodes.Node]:
        name = self._link(model.place, nodes.strong("", model.name))
        parts: list[nodes.Node] = [
            nodes.paragraph("", "", name, nodes.Text(f": {model.outcome}" if model.outcome else ""))
        ]
        for variant in model.variants:
            if model.variants[1:] and variant.place:
                page = self._link(variant.place, nodes.inline("", variant.place.title))
                parts.append(nodes.paragraph("", "", nodes.Text("As shown on "), page, nodes.Text(":")))
            parts += build_changes(variant.changes)
        return parts

    def _link(self, place: Place | None, text: nodes.Element) -> nodes.Element:
        if place is None:
            return text
        docname, _, anchor = place.address.partition("#")
        return link_document(self.app.builder, self.env.docname, docname, anchor, text)


def _build_row(row: ChangeRow) -> nodes.paragraph:
    return nodes.paragraph("", f"{row.sign} ", nodes.strong("", row.level), nodes.Text(f" {row.text}"))


def _build_lines(texts: Sequence[str]) -> nodes.line_block:
    return nodes.line_block("", *(nodes.line("", text) for text in texts))
