"""The role ``:model:part:`encoder.layers.0```: words that light a part of a diagram on the same page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from sphinx.domains import Domain
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import ReferenceRole
from sphinx.util.osutil import relative_uri

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.diagram_parts import count_earlier, find_part, link_part
from modeldiagrams.hosting.site_files import FOLDER
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.fragment import PROSE
from sphinx_modeldiagrams.builders import makes_web_pages
from sphinx_modeldiagrams.diagram_node import LINKED, find_document, model_graph, read_diagram
from sphinx_modeldiagrams.reporting import warn

if TYPE_CHECKING:
    from docutils.nodes import Node, system_message
    from sphinx.util.typing import RoleFunction
    from sphinx.writers.html5 import HTML5Translator

__all__ = ["PartDomain", "ResolveParts", "depart_part", "model_part", "visit_part"]

_HAS_SCRIPT = "modeldiagrams_has_prose"


class model_part(nodes.reference):  # noqa: N801  (as docutils names nodes)
    """A link to a part of a diagram; other writers than HTML take it for any reference."""


class PartRole(ReferenceRole):
    """Words that speak of a part."""

    def run(self) -> tuple[list[Node], list[system_message]]:
        """Called by docutils."""
        title = self.title if self.has_explicit_title else self.title.rpartition("#")[2]
        words = nodes.Text(title) if self.has_explicit_title else nodes.literal("", title)
        part = model_part("", "", words, part=self.target, internal=True, classes=["mg-part"])
        self.set_source_info(part)
        return [part], []


class PartDomain(Domain):
    """Gives the role its name."""

    name = "model"
    label = "parts of models"
    roles: ClassVar[dict[str, RoleFunction]] = {"part": PartRole()}

    def merge_domaindata(self, docnames: Any, otherdata: Any) -> None:
        """Called by Sphinx; there is nothing to merge."""

    def resolve_any_xref(self, *_: Any) -> list[tuple[str, nodes.reference]]:
        """Called by Sphinx for ``:any:``."""
        return []


class ResolveParts(SphinxPostTransform):
    """Finds what the words of a page speak of, once all of its diagrams are known."""

    default_priority = 150
    """Before diagrams become images."""

    def run(self, **_: Any) -> None:
        """Called by Sphinx."""
        parts = list(self.document.findall(model_part))
        if not parts or self.app.builder.name == "gettext":
            return
        figures = list(self.document.findall(model_graph))
        shown = [read_diagram(figure, self.env) for figure in figures]
        is_web_page = makes_web_pages(self.app.builder)
        for node in parts:
            document = find_document(node)
            here = [other for figure, other in zip(figures, shown, strict=True) if find_document(figure) == document]
            try:
                part = find_part(here, node["part"])
            except ModelDiagramsError as error:
                warn("ref", f"model:part: {error}", node)
                node.parent.replace(node, node.children)
                continue
            at = next(i for i, diagram in enumerate(shown) if diagram is part.diagram)
            part = part._replace(place=count_earlier(shown, at))
            fragment = link_part(part) if is_web_page else None
            if fragment is not None:
                figures[at][LINKED] = [*figures[at].get(LINKED, []), fragment]
            ids = figures[at].parent["ids"]
            node["refid"] = fragment or (part.diagram.anchor if part.diagram.anchor in ids else ids[0])
            node["attributes"] = part.attributes if part.is_live and is_web_page else ""


def visit_part(self: HTML5Translator, node: model_part) -> None:
    """Write the link, and once for each page the script that lets it light its part."""
    attributes = node.get("attributes", "")
    page = self.builder.current_docname
    if attributes and getattr(self, _HAS_SCRIPT, None) != page:
        setattr(self, _HAS_SCRIPT, page)
        assets = relative_uri(self.builder.get_target_uri(page), f"{FOLDER}/")
        self.body.append(f'<script src="{html_text(assets + PROSE)}" defer></script>')
    self.body.append(f'<a class="reference internal mg-part" href="#{html_text(node["refid"])}" {attributes}>')


def depart_part(self: HTML5Translator, _node: model_part) -> None:
    """End the link."""
    self.body.append("</a>")
