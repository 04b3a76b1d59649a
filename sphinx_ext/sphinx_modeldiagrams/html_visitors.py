"""Writes a diagram's node as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.util.osutil import relative_uri

from modeldiagrams.hosting.site_files import FOLDER
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.fragment import render_fragment
from modeldiagrams.html.outline import list_outline_rows, select_rows
from modeldiagrams.html.tour_parts import render_step_image
from sphinx_modeldiagrams.builders import one_fragment
from sphinx_modeldiagrams.class_references import references
from sphinx_modeldiagrams.class_sources import (
    find_definitions,
    find_viewcode_url,
    list_documented_packages,
    make_linkcode_url,
)
from sphinx_modeldiagrams.diagram_node import LINKED, find_tour, read_diagram
from sphinx_modeldiagrams.domain import domain_of

if TYPE_CHECKING:
    from sphinx.util.docutils import SphinxTranslator
    from sphinx.writers.html5 import HTML5Translator

    from sphinx_modeldiagrams.diagram_node import model_graph, step_picture

__all__ = ["skip_node", "visit_html", "visit_step_picture"]


def visit_html(self: HTML5Translator, node: model_graph) -> None:
    """Write the interactive diagram; the node's children are only for Sphinx's references and search."""
    page = self.builder.get_target_uri(self.builder.current_docname)
    diagram = read_diagram(node, self.builder.env)
    found, own = references(node), list_documented_packages(self.builder.env, node)
    defined = find_definitions(diagram.graph) if diagram.graph else {}

    def link(class_name: str, html: str) -> str:
        if class_name in found:
            return _add_anchor(found[class_name], html)
        class_ = defined.get(class_name)
        if class_ is None:  # the row is a function
            return html
        source = make_linkcode_url(self.builder, class_, own) or find_viewcode_url(self.builder, class_)
        return f'<a class="mg-source" href="{html_text(source)}">{html}</a>' if source else html

    assets = relative_uri(page, f"{FOLDER}/")
    anchors = domain_of(self.builder.env).anchors(self.builder, node)
    # repeats share a row, and large models have too many
    rows = {row.id for row in select_rows(list_outline_rows(diagram))}
    without_row = [anchor for module, anchor in anchors.items() if module not in rows]
    # words may refer to modules of a diagram that is in no index
    linked: list[str] = node.get(LINKED, [])
    bare = [*without_row, *(anchor for anchor in linked if anchor not in anchors.values())]
    self.body += [f'<span id="{html_text(anchor)}"></span>' for anchor in dict.fromkeys(bare)]
    documents = any(True for _ in self.document.findall(addnodes.desc))
    self.body.append(render_fragment(diagram, assets=assets, link=link, anchors=anchors, documents=documents))
    raise nodes.SkipNode


def visit_step_picture(self: HTML5Translator, node: step_picture) -> None:
    """Write the still picture of a tour's step."""
    assets = relative_uri(self.builder.get_target_uri(self.builder.current_docname), f"{FOLDER}/")
    diagram = read_diagram(find_tour(node), self.builder.env)
    self.body.append(render_step_image(diagram, node["index"], assets=assets, title=node["title"]))
    raise nodes.SkipNode


def skip_node(_self: SphinxTranslator, _node: nodes.Element) -> None:
    """Skip the node in other writers, which see it only if a builder bypasses our transform."""
    raise nodes.SkipNode


def _add_anchor(reference: nodes.reference, html: str) -> str:
    """Render a resolved reference with our HTML as its content."""
    uri = reference["refuri"] if "refuri" in reference else f"#{reference['refid']}"
    kind = "internal" if reference.get("internal") else "external"
    title = f' title="{html_text(reference["reftitle"])}"' if reference.get("reftitle") else ""
    return f'<a class="reference {kind}" href="{html_text(one_fragment(uri))}"{title}>{html}</a>'
