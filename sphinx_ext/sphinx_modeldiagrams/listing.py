"""The directive ``.. model-source::``: the code of a part, whose lines and nodes light each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util.osutil import relative_uri

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.listing import forward_of
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

__all__ = ["ModelSourceDirective", "ReadListings", "depart_listing", "model_listing", "shown_so_far", "visit_listing"]

_SHOWN = "modeldiagrams_shown"
"""Key of the environment's temporary data: the diagrams of the document so far."""


def shown_so_far(env: BuildEnvironment) -> list[Diagram]:
    """The diagrams of the document that is being read."""
    return cast("list[Diagram]", env.temp_data.setdefault(_SHOWN, []))


class model_listing(nodes.literal_block):  # noqa: N801  (as docutils names nodes)
    """A listing; other writers than HTML take it for any."""


class ModelSourceDirective(HostDirective):
    """The `forward` of a part of a diagram on the same page."""

    optional_arguments = 1
    has_content = True  # where Markdown's fences are directives

    def run(self) -> list[Node]:
        """Called by docutils."""
        target = " ".join([*self.arguments, *self.content]).strip()
        block = model_listing("", "", language="python", target=target)
        self.set_source_info(block)
        return [block]


class ReadListings(SphinxTransform):
    """Reads the code once all diagrams of a document are known: listings may stand above them."""

    default_priority = 10
    """Before texts are translated."""

    def apply(self, **_: Any) -> None:
        """Called by Sphinx."""
        for node in list(self.document.findall(model_listing)):
            try:
                listing = forward_of(shown_so_far(self.env), node["target"])
            except ModelDiagramsError as error:
                warn("ref", f"model-source: {error}", node)
                node.parent.remove(node)
                continue
            node.rawsource = listing.text
            node.append(nodes.Text(listing.text))
            node["html"], node["anchor"] = listing.html, listing.anchor


def visit_listing(self: HTML5Translator, node: model_listing) -> None:
    """Write the listing with its links, and the script that lights."""
    if not makes_web_pages(self.builder):
        self.visit_literal_block(node)
        return
    assets = relative_uri(self.builder.get_target_uri(self.builder.current_docname), f"{FOLDER}/")
    is_live = "data-mg-nodes=" in node["html"]
    script = f'<script src="{html_text(assets + PROSE)}" defer></script>\n' if is_live else ""
    self.body.append(f"{node['html']}\n{script}")
    raise nodes.SkipNode


def depart_listing(self: HTML5Translator, node: model_listing) -> None:
    """End what is no web page."""
    self.depart_literal_block(node)
