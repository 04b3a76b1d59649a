"""Makes ids unique when `singlehtml` joins documents into one page."""

from __future__ import annotations

import re
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from sphinx_modeldiagrams.diagram_node import ANCHOR, find_document, model_graph, read_diagram

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["JoinDocuments", "find_free_anchor"]


_ODD = re.compile(r"[^\w.-]+")


class JoinDocuments(SphinxPostTransform):
    """Distinguishes the diagrams of all documents, with their notes and steps."""

    default_priority = 140
    """Before `ResolveParts`."""
    builders = ("singlehtml",)

    def run(self, **_: Any) -> None:
        """Rename duplicate anchors; called by Sphinx."""
        taken = set[str]()
        for figure in list(self.document.findall(model_graph)):
            diagram, document = read_diagram(figure, self.env), find_document(figure) or ""
            anchor = diagram.anchor
            if anchor in taken:
                anchor = find_free_anchor(anchor, document, taken)
                _rename(figure, diagram, anchor, self._ids_in(document))
            taken.add(anchor)

    def _ids_in(self, document: str) -> list[nodes.Element]:
        """Return the nodes of one document that have ids."""
        with_ids = (node for node in self.document.findall(nodes.Element) if node.get("ids"))
        return [node for node in with_ids if find_document(node) == document]


def find_free_anchor(anchor: str, document: str, taken: Container[str]) -> str:
    """Make a unique anchor with the document's name, and a number if names only differ in special characters."""
    name = f"{anchor}-in-{_ODD.sub('-', document)}"
    return next(one for one in chain([name], (f"{name}-{i}" for i in count(2))) if one not in taken)


def _rename(figure: model_graph, diagram: Diagram, anchor: str, near: Iterable[nodes.Element]) -> None:
    """Change the anchor of a diagram's notes and steps; the figure keeps its id, which Sphinx uses for numbering."""
    first = figure.parent["ids"][0]
    prefixes = {f"{diagram.anchor}-{kind}-": f"{anchor}-{kind}-" for kind in ("note", "image")}
    prefixes[f"{first}-step-"] = f"{anchor}-step-"
    for node in near:
        node["ids"] = [_replace_anchors(one, prefixes) for one in node["ids"]]
    figure.parent["ids"].append(anchor)
    figure[ANCHOR] = anchor


def _replace_anchors(one: str, prefixes: Mapping[str, str]) -> str:
    for old, new in prefixes.items():
        if one.startswith(old):
            return new + one.removeprefix(old)
    return one
