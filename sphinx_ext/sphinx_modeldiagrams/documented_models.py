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
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["DiagramLinkDirective", "LinkDiagrams", "update_links"]


class diagram_link(nodes.General, nodes.Element):  # noqa: N801  (as docutils names nodes)
    """The place for a link, until it is known which page shows the diagram."""


class DiagramLinkDirective(SphinxDirective):
    """Names the object whose docstring has it, with all its names."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Build the node; called by docutils."""
        names = tuple(self.arguments[0].split())
        domain_of(self.env).links.setdefault(self.env.docname, {})[names] = None
        return [diagram_link("", objects=names, docname=self.env.docname)]


def update_links(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Find the diagrams of documented objects, and return the documents to write again; called by Sphinx."""
    domain = domain_of(env)
    places: dict[str, tuple[str, str]] = {}
    for docname, entry in domain.list_targets():
        if get_settings(env.config).catalogue_links == "all" or docname in domain.model_pages:
            for name in entry["names"]:
                places.setdefault(name, (docname, entry["location"]["anchor"] or ""))
    outdated = []
    for docname, links in domain.links.items():
        found = {names: next((places[name] for name in names if name in places), None) for names in links}
        if found != links:
            domain.links[docname] = found
            outdated.append(docname)
    return outdated


class LinkDiagrams(SphinxPostTransform):
    """Links to diagrams that are on other pages."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Replace all nodes; called by Sphinx."""
        domain = domain_of(self.env)
        for node in list(self.document.findall(diagram_link)):
            here = {name for entry in domain.diagrams.get(node["docname"], []) for name in entry["names"]}
            place = domain.links[node["docname"]][node["objects"]]
            content = []
            if place and here.isdisjoint(node["objects"]):
                text = nodes.inline("", "Diagram")
                content = [nodes.paragraph("", "", link_document(self.app.builder, self.env.docname, *place, text))]
            node.replace_self(content)
