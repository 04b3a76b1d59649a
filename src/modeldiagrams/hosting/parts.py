"""Parts of a diagram to which the text of its page refers: which nodes they are, and where a link to them leads."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import msgspec

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.fragment import is_interactive
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.options.patterns import Unmatched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["Part", "find_diagram", "find_part", "fragment_of", "module_fragment", "place_of", "placed"]

_PLAIN = "/:@*"
"""What fragments hold as it is."""


class Part(NamedTuple):
    """Nodes of a diagram of the page."""

    diagram: Diagram
    place: int
    """Of the diagram, among those of the page that have its id."""
    ids: tuple[str, ...]

    @property
    def is_live(self) -> bool:
        """Whether the widget can show it."""
        return is_interactive(self.diagram)

    @property
    def attributes(self) -> str:
        """HTML attributes by which `prose.js` knows the nodes."""
        nodes = html_text(json.dumps(self.ids))
        return f'data-mg-graph="{html_text(self.diagram.id)}" data-mg-place="{self.place}" data-mg-nodes="{nodes}"'


def find_part(shown: Sequence[Diagram], target: str) -> Part:
    """The nodes that an author names.

    Args:
        shown: The diagrams of the page, in order.
        target: A pattern as of `group`, or the name of a group; ``mypkg.Model#pattern`` where a page has
            diagrams of several models.

    Raises:
        ModelDiagramsError: if the page shows no such model, or the model has no such part.
    """
    model, sign, pattern = target.partition("#")
    model, pattern = (model, pattern) if sign else ("", target)
    asked = [i for i, diagram in enumerate(shown) if diagram.graph and (not model or model in _names(diagram))]
    found = {i: _nodes_of(shown[i], pattern) for i in asked}
    for i, ids in found.items():
        visible = tuple(one for one in ids if not _is_hidden(shown[i], one))
        if visible:
            return Part(shown[i], place_of(shown, i), visible)
    graph = shown[asked[0]].graph if asked else None
    if graph is None:
        models = ", ".join(dict.fromkeys(diagram.options.call.model for diagram in shown)) or "none"
        wanted = f"a diagram of {model}" if model else "a diagram"
        raise ModelDiagramsError(f"expected {wanted} on this page, which has {models}")
    unmatched = Unmatched(option="part", patterns=(pattern,), hidden=any(found.values())).error(graph)
    raise ModelDiagramsError(str(unmatched).partition(": ")[2])


def find_diagram(shown: Sequence[Diagram], model: str) -> Part | None:
    """A whole diagram, without nodes.

    Args:
        shown: The diagrams of the page, in order.
        model: What an author calls it; empty for the first with a graph.
    """
    for i, diagram in enumerate(shown):
        if diagram.graph and (not model or model in _names(diagram)):
            return Part(diagram, place_of(shown, i), ())
    return None


def place_of(shown: Sequence[Diagram], at: int) -> int:
    """Number of a diagram among those of the page that have its id and a widget.

    Args:
        shown: The diagrams of the page, in order.
        at: Index of the diagram.
    """
    return sum(other.id == shown[at].id and is_interactive(other) for other in shown[:at])


def placed(diagram: Diagram, shown: Sequence[Diagram]) -> Diagram:
    """A diagram that comes after those of its page that were shown before."""
    return msgspec.structs.replace(diagram, place=sum(other.id == diagram.id for other in shown))


def fragment_of(part: Part) -> str | None:
    """The fragment of a URL that shows a part; None where the page has nothing but the picture."""
    graph = part.diagram.graph
    modules = {node.id for node in graph.nodes if isinstance(node, ModuleNode)} if graph else ()
    is_module = part.is_live and part.ids[0] in modules
    return module_fragment(part.diagram.id, part.place, part.ids[0]) if is_module else None


def module_fragment(diagram_id: str, index: int, module: str) -> str:
    """The fragment of a URL that makes the widget show a module: ``pkg.Net?at=encoder.layers.0``.

    ``viewer/src/widget/menu/link_text.ts`` reads it.

    Args:
        diagram_id: Id of the diagram.
        index: Its number among the diagrams of its page with this id.
        module: Dotted path.
    """
    graph = _quoted(diagram_id).replace("~", "%7E")
    return f"{graph}{f'~{index + 1}' if index else ''}?at={_quoted(module)}"


@functools.lru_cache(maxsize=16_384)
def _quoted(text: str) -> str:
    """Asked for every module of a site several times, and most modules are called as those of other models."""
    return quote(text, safe=_PLAIN)


def _names(diagram: Diagram) -> set[str]:
    """What an author may call a diagram."""
    graph = diagram.graph
    of_graph = {graph.model.class_, graph.model.name} if graph else set[str]()
    return {diagram.options.call.model, diagram.options.figure.name or "", *diagram.own_names, *of_graph}


def _is_hidden(diagram: Diagram, name: str) -> bool:
    return bool(diagram.overlay and diagram.graph and diagram.overlay.hides(diagram.graph, name))


def _nodes_of(diagram: Diagram, pattern: str) -> tuple[str, ...]:
    """The author's groups of this name, or else what the pattern matches in the graph."""
    groups = diagram.overlay.groups if diagram.overlay else ()
    named = tuple(group.id for group in groups if pattern in {group.name, group.id})
    return named or (diagram.graph.matching(pattern) if diagram.graph else ())
