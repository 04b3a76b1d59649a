"""The role ``:model-graph:`mypkg.Model``` and what it leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.ext import intersphinx
from sphinx.roles import XRefRole

if TYPE_CHECKING:
    from docutils import nodes
    from docutils.nodes import Element, Node, TextElement, system_message
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["DOMAIN", "ROLE", "ModelRole", "address", "resolve_elsewhere"]

DOMAIN = "modeldiagrams"
ROLE = "model-graph"


class ModelRole(XRefRole):
    """A model's diagram, or with ``#path`` a module in it; ``~`` shows the last part of the name only."""

    def run(self) -> tuple[list[Node], list[system_message]]:
        """Called by docutils, also for the short name of the role."""
        self.name = f"{DOMAIN}:{ROLE}"
        return super().run()

    def process_link(
        self,
        env: BuildEnvironment,
        refnode: Element,
        has_explicit_title: bool,  # noqa: FBT001  (Sphinx's signature)
        title: str,
        target: str,
    ) -> tuple[str, str]:
        """Called by Sphinx."""
        title, target = super().process_link(env, refnode, has_explicit_title, title, target)
        if has_explicit_title or not title.startswith("~"):
            return title, target
        model, _, module = target[1:].partition("#")
        return module or model.rpartition(".")[2], target[1:]


def address(anchor: str, module: str) -> str:
    """The fragment of a URL that leads to a module inside the diagram with this anchor."""
    return f"{anchor}:{module}"


def resolve_elsewhere(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: TextElement
) -> nodes.reference | None:
    """A module in another project's diagram: its inventory has the model, and we know the rest of the address."""
    model, _, module = node["reftarget"].partition("#")
    if node.get("refdomain") != DOMAIN or not module or intersphinx.__name__ not in app.extensions:
        return None
    asked = node.deepcopy()
    asked["reftarget"] = model
    found = intersphinx.missing_reference(app, env, asked, contnode)
    if found is None:
        return None
    page, _, anchor = found["refuri"].partition("#")
    found["refuri"] = f"{page}#{address(anchor, module)}"
    found[:] = [contnode]
    return found
