"""The node as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.osutil import relative_uri

from modeldiagrams.host import FOLDER, in_figure
from modeldiagrams.markup import html_text
from modeldiagrams.page import fragment
from sphinx_modeldiagrams.builders import one_fragment
from sphinx_modeldiagrams.domain import domain_of
from sphinx_modeldiagrams.links import references
from sphinx_modeldiagrams.nodes import diagram_of
from sphinx_modeldiagrams.sources import definitions, linkcode_url, own_packages, viewcode_url

if TYPE_CHECKING:
    from sphinx.util.docutils import SphinxTranslator
    from sphinx.writers.html5 import HTML5Translator

    from sphinx_modeldiagrams.nodes import model_graph

__all__ = ["skip", "visit_html"]


def visit_html(self: HTML5Translator, node: model_graph) -> None:
    """Write the interactive diagram; the children have done their work."""
    page = self.builder.get_target_uri(self.builder.current_docname)
    diagram = in_figure(diagram_of(node))
    found, own = references(node), own_packages(self.builder.env, node)
    defined = definitions(diagram.graph) if diagram.graph else {}

    def link(class_name: str, html: str) -> str:
        if class_name in found:
            return _anchor(found[class_name], html)
        class_ = defined[class_name]
        source = linkcode_url(self.builder, class_, own) or viewcode_url(self.builder, class_)
        return f'<a class="mg-source" href="{html_text(source)}">{html}</a>' if source else html

    assets = relative_uri(page, f"{FOLDER}/")
    for anchor in domain_of(self.builder.env).anchors(self.builder, node):
        self.body.append(f'<span id="{html_text(anchor)}"></span>')
    self.body.append(fragment(diagram, assets=assets, link=link, source_link=node["source_link"]))
    raise nodes.SkipNode


def skip(_self: SphinxTranslator, _node: model_graph) -> None:
    """Other writers meet ordinary nodes in its place; should a builder bypass the transforms, it writes nothing."""
    raise nodes.SkipNode


def _anchor(reference: nodes.reference, html: str) -> str:
    """A resolved reference around our own HTML."""
    uri = reference["refuri"] if "refuri" in reference else f"#{reference['refid']}"
    kind = "internal" if reference.get("internal") else "external"
    title = f' title="{html_text(reference["reftitle"])}"' if reference.get("reftitle") else ""
    return f'<a class="reference {kind}" href="{html_text(one_fragment(uri))}"{title}>{html}</a>'
