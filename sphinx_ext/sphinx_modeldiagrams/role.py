"""The role ``:model-graph:`mypkg.Model```."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.roles import XRefRole

if TYPE_CHECKING:
    from docutils.nodes import Element, Node, system_message
    from sphinx.environment import BuildEnvironment

__all__ = ["DOMAIN", "ROLE", "ModelRole"]

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
