"""The doctree node of a diagram."""

from __future__ import annotations

import functools
from typing import Any

import msgspec
from docutils import nodes
from sphinx import addnodes

from modeldiagrams.common.decoding import decodable
from modeldiagrams.engine.diagram import Diagram

__all__ = ["LINKED", "diagram_of", "document_of", "model_graph", "step_picture", "tour_of"]

LINKED = "linked"
"""Attribute of a diagram's node: the fragments by which words of its page lead to modules."""


class model_graph(nodes.General, nodes.Element, addnodes.translatable):  # noqa: N801  (as docutils names nodes)
    """One diagram. Its children are the cross references of its classes and the words that search finds.

    Doctrees are pickled and compared, so the node holds JSON, without the absolute paths of the model's sources.
    """

    @classmethod
    def of(cls, diagram: Diagram) -> model_graph:
        """The node of a diagram."""
        plain = msgspec.structs.replace(diagram, sources=(), libraries=(), names={})
        return cls("", diagram=msgspec.json.encode(plain).decode(), alt=diagram.options.figure.alt)

    def preserve_original_messages(self) -> None:
        """Remember the text before translation; called by Sphinx."""
        self["original_alt"] = self["alt"]

    def apply_translated_message(self, original_message: str, translated_message: str) -> None:
        """Apply a translation; called by Sphinx."""
        if original_message == self["original_alt"]:
            self["alt"] = translated_message

    def extract_original_messages(self) -> list[str]:
        """Called by Sphinx: text for translators besides the caption; only the author's own, none from the graph."""
        original = self.get("original_alt")
        return [original] if original else []


class step_picture(nodes.General, nodes.Element):  # noqa: N801  (as docutils names nodes)
    """The still picture of a tour's step, whose position is its ``index``; the tour's `model_graph` has it."""


def tour_of(node: step_picture) -> model_graph:
    """Return the diagram of the tour around a step's picture."""
    above: nodes.Element = node
    while not (found := [*above.findall(model_graph)]):
        above = above.parent
    return found[0]


def document_of(node: nodes.Node) -> str | None:
    """The document that a node was in before a builder joined many, as `singlehtml` does; None where none is said."""
    above: Any = node
    while above is not None and "docname" not in above:
        above = above.parent
    return above and str(above["docname"])


def diagram_of(node: model_graph) -> Diagram:
    """The diagram a node holds, in the language of the site."""
    diagram = _decoded(node["diagram"])
    figure = msgspec.structs.replace(diagram.options.figure, alt=node["alt"])
    options = msgspec.structs.replace(diagram.options, figure=figure)
    return msgspec.structs.replace(diagram, options=options)


@functools.lru_cache(maxsize=4)
def _decoded(text: str) -> Diagram:
    """Cached because a page and its data files are written from the same nodes, one after the other."""
    return msgspec.json.decode(text, type=decodable(Diagram))
