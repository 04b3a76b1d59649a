"""The doctree node of a diagram."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from docutils import nodes
from sphinx import addnodes

from modeldiagrams.common.decoding import decodable
from modeldiagrams.common.files import digest, write_atomically
from modeldiagrams.engine.diagram import Diagram

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

__all__ = [
    "LINKED",
    "find_document",
    "find_tour",
    "locate_diagrams",
    "model_graph",
    "read_diagram",
    "step_picture",
]

LINKED = "linked"
"""Attribute of a diagram's node: the fragments by which words of its page lead to modules."""

_FOLDER = "model-diagrams"


class model_graph(nodes.General, nodes.Element, addnodes.translatable):  # noqa: N801  (as docutils names nodes)
    """One diagram. Its children are the cross references of its classes and the words that search finds.

    Doctrees are pickled, copied and compared, so the node holds the diagram's id, and the name of a file next to the
    doctrees with all else.
    """

    @classmethod
    def of(cls, diagram: Diagram, env: BuildEnvironment) -> model_graph:
        """Make the node of a diagram of the document that is being read, and write its file."""
        # without the absolute paths of the model's sources
        plain = msgspec.structs.replace(diagram, sources=(), libraries=(), names={})
        content = msgspec.json.encode(plain)
        file = locate_diagrams(env, env.docname) / f"{digest(content)}.json"
        write_atomically(file, content)
        return cls("", diagram=diagram.id, file=f"{file.parent.name}/{file.name}", alt=diagram.options.figure.alt)

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


def find_tour(node: step_picture) -> model_graph:
    """Return the diagram of the tour around a step's picture."""
    above: nodes.Element = node
    while not (found := [*above.findall(model_graph)]):
        above = above.parent
    return found[0]


def find_document(node: nodes.Node) -> str | None:
    """Return the document of a node, which builders like `singlehtml` join with others; None if it is unknown."""
    above: Any = node
    while above is not None and "docname" not in above:
        above = above.parent
    return above and str(above["docname"])


def locate_diagrams(env: BuildEnvironment, docname: str) -> Path:
    """Return the folder for the diagrams of a document."""
    return Path(env.doctreedir) / _FOLDER / digest(docname.encode(), size=8)


def read_diagram(node: model_graph, env: BuildEnvironment) -> Diagram:
    """Read the diagram of a node, with its text alternative in the site's language."""
    diagram = _read(Path(env.doctreedir) / _FOLDER / node["file"])
    figure = msgspec.structs.replace(diagram.options.figure, alt=node["alt"])
    return msgspec.structs.replace(diagram, options=msgspec.structs.replace(diagram.options, figure=figure))


@functools.lru_cache(maxsize=4)
def _read(file: Path) -> Diagram:
    """Read a diagram; cached because a page and its data files are written from the same nodes."""
    return msgspec.json.decode(file.read_bytes(), type=decodable(Diagram))
