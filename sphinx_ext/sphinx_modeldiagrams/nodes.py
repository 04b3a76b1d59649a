"""The node a diagram is between reading and writing."""

from __future__ import annotations

import functools

import msgspec
from docutils import nodes

from modeldiagrams.diagrams import Diagram

__all__ = ["diagram_of", "model_graph"]


class model_graph(nodes.General, nodes.Element):  # noqa: N801  (docutils names nodes like this)
    """One diagram. Its children are the cross references of its classes and the words that search finds.

    Doctrees are pickled and compared: the diagram is kept as its JSON text, without the absolute paths of its sources.
    """

    @classmethod
    def of(cls, diagram: Diagram) -> model_graph:
        """The node of a diagram."""
        plain = msgspec.structs.replace(diagram, sources=(), libraries=(), names={})
        return cls("", diagram=msgspec.json.encode(plain).decode())


def diagram_of(node: model_graph) -> Diagram:
    """The diagram a node holds."""
    return _decoded(node["diagram"])


@functools.lru_cache(maxsize=4)
def _decoded(text: str) -> Diagram:
    """The page and the data beside it are written one after the other, of the same nodes."""
    return msgspec.json.decode(text, type=Diagram)
