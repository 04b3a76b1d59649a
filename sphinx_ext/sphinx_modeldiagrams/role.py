"""The role ``:model-graph:`mypkg.Model``` and the fragments that it links to."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

from sphinx.roles import XRefRole

if TYPE_CHECKING:
    from docutils.nodes import Element, Node, system_message
    from sphinx.environment import BuildEnvironment

__all__ = ["DOMAIN", "ROLE", "ModelRole", "module_fragment"]

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
        if not has_explicit_title and title.startswith("~"):
            target = target[1:]
            model, _, module = target.partition("#")
            title = module or model.rpartition(".")[2]
        return title, target


def module_fragment(diagram_id: str, index: int, module: str) -> str:
    """The fragment of a URL that makes the widget show a module (``viewer/src/widget/features/link.ts`` reads it).

    Args:
        diagram_id: Id of the diagram.
        index: Its number among the diagrams of its page with this id.
        module: Dotted path.
    """
    wanted = {"graph": diagram_id, **({"place": index} if index else {}), "node": module}
    text = json.dumps(wanted, separators=(",", ":"))
    return f"{ROLE}-{base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}"
