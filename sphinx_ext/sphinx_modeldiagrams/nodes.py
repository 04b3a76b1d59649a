"""The node a diagram is between reading and writing."""

from __future__ import annotations

import functools

import msgspec
from docutils import nodes

from modeldiagrams.diagrams import Diagram
from sphinx import addnodes

__all__ = ["diagram_of", "model_graph"]


class model_graph(nodes.General, nodes.Element, addnodes.translatable):  # noqa: N801  (as docutils names nodes)
    """One diagram. Its children are the cross references of its classes and the words that search finds.

    Doctrees are pickled and compared: the diagram is kept as its JSON text, without the absolute paths of its sources.
    """

    @classmethod
    def of(cls, diagram: Diagram) -> model_graph:
        """The node of a diagram."""
        plain = msgspec.structs.replace(diagram, sources=(), libraries=(), names={})
        return cls("", diagram=msgspec.json.encode(plain).decode(), alt=diagram.options.alt)

    def preserve_original_messages(self) -> None:
        """Called by Sphinx before it translates."""
        self["original_alt"] = self["alt"]

    def apply_translated_message(self, original_message: str, translated_message: str) -> None:
        """Called by Sphinx with what a catalogue has."""
        if original_message == self["original_alt"]:
            self["alt"] = translated_message

    def extract_original_messages(self) -> list[str]:
        """What translators are to see besides the caption: the words of an author, not those of the graph."""
        original = self.get("original_alt")
        return [original] if original else []


def diagram_of(node: model_graph) -> Diagram:
    """The diagram a node holds, in the language of the site."""
    diagram = _decoded(node["diagram"])
    options = msgspec.structs.replace(diagram.options, alt=node["alt"])
    return msgspec.structs.replace(diagram, options=options)


@functools.lru_cache(maxsize=4)
def _decoded(text: str) -> Diagram:
    """The page and the data beside it are written one after the other, of the same nodes."""
    return msgspec.json.decode(text, type=Diagram)
