"""The directives `model-changes` and `model-history`, and lists of changes as docutils nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

from modeldiagrams.engine.compare.history import TITLES
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.reports import report_error
from modeldiagrams.hosting.version_requests import read_changes, read_history
from modeldiagrams.html.change_list import list_model_changes
from modeldiagrams.html.history_chart import render_history_chart
from sphinx_modeldiagrams.host_directive import HostDirective
from sphinx_modeldiagrams.tables import build_summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.html.change_list import ChangeList, ChangeRow, ModelChanges

__all__ = ["ModelChangesDirective", "ModelHistoryDirective", "build_changes"]


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
        """Build a paragraph for each model."""
        found = read_changes(self, text)
        return [node for model in list_model_changes(found) for node in _build_paragraph(model)] + [
            nodes.paragraph("", found.summary())
        ]


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


def _build_paragraph(model: ModelChanges) -> list[nodes.Node]:
    name = nodes.paragraph(
        "", "", nodes.strong("", model.name), nodes.Text(f": {model.outcome}" if model.outcome else "")
    )
    return [name, *(build_changes(model.changes) if model.changes else [])]


def _build_row(row: ChangeRow) -> nodes.paragraph:
    return nodes.paragraph("", f"{row.sign} ", nodes.strong("", row.level), nodes.Text(f" {row.text}"))


def _build_lines(texts: Sequence[str]) -> nodes.line_block:
    return nodes.line_block("", *(nodes.line("", text) for text in texts))
