"""Links from documented classes and functions to the pages with their diagrams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from sphinx_modeldiagrams.builders import link_document
from sphinx_modeldiagrams.conf_values import get_settings
from sphinx_modeldiagrams.domain import domain_of

if TYPE_CHECKING:
    from sphinx_modeldiagrams.entries import Entry

__all__ = ["DiagramLinkDirective", "LinkDiagrams"]


class diagram_link(nodes.General, nodes.Element):  # noqa: N801  (as docutils names nodes)
    """The place for a link, until it is known which page shows the diagram."""


class DiagramLinkDirective(SphinxDirective):
    """Names the object whose docstring has it, with all its names."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Build the node; called by docutils."""
        return [diagram_link("", objects=self.arguments[0].split(), docname=self.env.docname)]


class LinkDiagrams(SphinxPostTransform):
    """Links to diagrams on other pages."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Replace all nodes; called by Sphinx."""
        links = [*self.document.findall(diagram_link)]
        targets = domain_of(self.env).list_targets() if links else []
        places: dict[str, list[tuple[str, Entry]]] = {}
        for docname, entry in targets:
            for name in entry["names"]:
                places.setdefault(name, []).append((docname, entry))
        for node in links:
            found = [place for name in node["objects"] for place in places.get(name, [])]
            is_here = any(docname == node["docname"] for docname, _ in found)
            node.replace_self([] if is_here else self._link(found))

    def _link(self, found: list[tuple[str, Entry]]) -> list[nodes.Node]:
        pages = domain_of(self.env).model_pages
        is_any = get_settings(self.config).catalogue_links == "all"
        for docname, entry in found:
            if is_any or docname in pages:
                anchor = entry["location"]["anchor"] or ""
                link = link_document(self.app.builder, self.env.docname, docname, anchor, nodes.inline("", "Diagram"))
                return [nodes.paragraph("", "", link)]
        return []
