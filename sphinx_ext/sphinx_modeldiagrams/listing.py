"""The directive ``.. model-source::``: the code of a module, whose lines and nodes highlight each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util.osutil import relative_uri

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.listing import find_forward
from modeldiagrams.hosting.site_files import FOLDER
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.fragment import PROSE
from sphinx_modeldiagrams.builders import makes_web_pages
from sphinx_modeldiagrams.host_directive import HostDirective
from sphinx_modeldiagrams.reporting import warn

if TYPE_CHECKING:
    from docutils.nodes import Node
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["ModelSourceDirective", "ReadListings", "depart_listing", "list_shown", "model_listing", "visit_listing"]

_SHOWN = "modeldiagrams_shown"
"""Key in the environment's temporary data of the diagrams of the document so far."""


def list_shown(env: BuildEnvironment) -> list[Diagram]:
    """Return the diagrams of the current document so far."""
    return cast("list[Diagram]", env.temp_data.setdefault(_SHOWN, []))


class model_listing(nodes.literal_block):  # noqa: N801  (as docutils names nodes)
    """A listing; writers other than HTML treat it as a literal block."""


class ModelSourceDirective(HostDirective):
    """Shows the `forward` of a module in a diagram on the same page."""

    optional_arguments = 1
    has_content = True  # for fences of Markdown

    def run(self) -> list[Node]:
        """Build the listing's node; called by docutils."""
        target = " ".join([*self.arguments, *self.content]).strip()
        block = model_listing("", "", language="python", target=target)
        self.set_source_info(block)
        return [block]


class ReadListings(SphinxTransform):
    """Reads code when all diagrams of a document are known, because listings may precede them."""

    default_priority = 10
    """Before texts are translated."""

    def apply(self, **_: Any) -> None:
        """Fill in all listings; called by Sphinx."""
        for node in list(self.document.findall(model_listing)):
            try:
                listing = find_forward(list_shown(self.env), node["target"])
            except ModelDiagramsError as error:
                warn("ref", f"model-source: {error}", node)
                node.parent.remove(node)
                continue
            node.rawsource = listing.text
            node.append(nodes.Text(listing.text))
            node["html"], node["anchor"] = listing.html, listing.anchor


def visit_listing(self: HTML5Translator, node: model_listing) -> None:
    """Write the listing with its links, and the script for highlighting."""
    if not makes_web_pages(self.builder):
        self.visit_literal_block(node)
        return
    assets = relative_uri(self.builder.get_target_uri(self.builder.current_docname), f"{FOLDER}/")
    is_live = "data-mg-nodes=" in node["html"]
    script = f'<script src="{html_text(assets + PROSE)}" defer></script>\n' if is_live else ""
    self.body.append(f"{node['html']}\n{script}")
    raise nodes.SkipNode


def depart_listing(self: HTML5Translator, node: model_listing) -> None:
    """Finish a listing outside web pages."""
    self.depart_literal_block(node)
