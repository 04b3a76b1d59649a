"""Diagrams of PyTorch models in Sphinx: ``extensions = ["sphinx_modeldiagrams"]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams import __version__
from sphinx_modeldiagrams.asset_writer import add_everywhere, write_data, write_shared
from sphinx_modeldiagrams.autodoc import AUTODOC_DIRECTIVE, LINK_DIRECTIVE, connect
from sphinx_modeldiagrams.catalogue_directive import (
    ModelCatalogueDirective,
    ReplaceCatalogues,
    model_catalogue,
    visit_catalogue,
)
from sphinx_modeldiagrams.catalogue_sources import write_pages
from sphinx_modeldiagrams.class_references import resolve_any_as_class, silence_missing_class
from sphinx_modeldiagrams.conf_values import add_settings, check_settings
from sphinx_modeldiagrams.diagram_node import model_graph, step_picture
from sphinx_modeldiagrams.directive import AutodocDirective, ModelDiffDirective, ModelGraphDirective
from sphinx_modeldiagrams.documented_models import DiagramLinkDirective, LinkDiagrams
from sphinx_modeldiagrams.domain import ModelDiagramsDomain, close_builder, run_models
from sphinx_modeldiagrams.html_visitors import skip_node, visit_html, visit_step_picture
from sphinx_modeldiagrams.latex import connect_latex
from sphinx_modeldiagrams.note_directive import ModelNoteDirective
from sphinx_modeldiagrams.outdated_documents import list_outdated_documents
from sphinx_modeldiagrams.part_role import PartDomain, ResolveParts, depart_part, model_part, visit_part
from sphinx_modeldiagrams.role import ROLE, ModelRole
from sphinx_modeldiagrams.tour_directives import ModelTourDirective, TourStepDirective
from sphinx_modeldiagrams.transform import ReplaceDiagrams
from sphinx_modeldiagrams.version_directives import ListModelChanges, ModelChangesDirective, ModelHistoryDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

__all__ = ["setup"]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set up the extension; called by Sphinx."""
    add_settings(app)
    app.add_domain(ModelDiagramsDomain)
    app.add_domain(PartDomain)
    app.add_role(ROLE, ModelRole(warn_dangling=True))
    app.add_directive("model-graph", ModelGraphDirective)
    app.add_directive("model-tour", ModelTourDirective)
    app.add_directive("tour-step", TourStepDirective)
    app.add_directive("model-note", ModelNoteDirective)
    app.add_directive("model-diff", ModelDiffDirective)
    app.add_directive("model-changes", ModelChangesDirective)
    app.add_directive("model-history", ModelHistoryDirective)
    app.add_directive("model-catalogue", ModelCatalogueDirective)
    app.add_directive(AUTODOC_DIRECTIVE, AutodocDirective)
    app.add_directive(LINK_DIRECTIVE, DiagramLinkDirective)
    hidden = (skip_node, None)
    app.add_node(model_graph, html=(visit_html, None), latex=hidden, text=hidden, man=hidden, texinfo=hidden)
    app.add_node(step_picture, html=(visit_step_picture, None), latex=hidden, text=hidden, man=hidden, texinfo=hidden)
    app.add_node(model_catalogue, html=(visit_catalogue, None))
    app.add_node(model_part, html=(visit_part, depart_part))
    connect_latex(app)
    app.add_post_transform(ResolveParts)
    app.add_post_transform(ListModelChanges)
    app.add_post_transform(LinkDiagrams)
    app.add_post_transform(ReplaceDiagrams)
    app.add_post_transform(ReplaceCatalogues)

    app.connect("config-inited", check_settings)
    app.connect("config-inited", connect)
    app.connect("builder-inited", write_pages)
    app.connect("env-get-outdated", list_outdated_documents)
    app.connect("env-before-read-docs", run_models)
    app.connect("warn-missing-reference", silence_missing_class)
    app.connect("missing-reference", resolve_any_as_class, priority=400)  # before intersphinx
    app.connect("html-page-context", write_data)
    app.connect("html-page-context", add_everywhere)
    app.connect("build-finished", write_shared)
    app.connect("build-finished", close_builder)
    return {"version": __version__, "env_version": 4, "parallel_read_safe": True, "parallel_write_safe": True}
