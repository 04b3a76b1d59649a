"""Finds the parts of a diagram that the text of its page refers to, and builds links to them."""

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

__all__ = ["DiagramPart", "count_earlier", "find_part", "link_module", "link_part", "number_diagram"]

_PLAIN = "/:@*"
"""Characters that are not escaped in fragments."""


class DiagramPart(NamedTuple):
    """Nodes of one of the page's diagrams."""

    diagram: Diagram
    place: int
    """The diagram's number among those of the page with its id."""
    ids: tuple[str, ...]

    @property
    def is_live(self) -> bool:
        """Whether the widget can show it."""
        return is_interactive(self.diagram)

    @property
    def attributes(self) -> str:
        """Return the HTML attributes from which `prose.js` reads the nodes."""
        nodes = html_text(json.dumps(self.ids))
        return f'data-mg-graph="{html_text(self.diagram.id)}" data-mg-place="{self.place}" data-mg-nodes="{nodes}"'


def find_part(shown: Sequence[Diagram], target: str) -> DiagramPart:
    """Find the nodes that an author names.

    Args:
        shown: The diagrams of the page, in order.
        target: A pattern as for `group`, or the name of a group; ``mypkg.Model#pattern`` on pages with several models.

    Raises:
        ModelDiagramsError: if the page shows no such model, or the model has no such part.
    """
    model, sign, pattern = target.partition("#")
    model, pattern = (model, pattern) if sign else ("", target)
    asked = [i for i, diagram in enumerate(shown) if diagram.graph and (not model or model in _list_names(diagram))]
    found = {i: _find_nodes(shown[i], pattern) for i in asked}
    for i, ids in found.items():
        visible = tuple(one for one in ids if not _is_hidden(shown[i], one))
        if visible:
            return DiagramPart(shown[i], count_earlier(shown, i), visible)
    graph = shown[asked[0]].graph if asked else None
    if graph is None:
        models = ", ".join(dict.fromkeys(diagram.options.call.model for diagram in shown)) or "none"
        wanted = f"a diagram of {model}" if model else "a diagram"
        raise ModelDiagramsError(f"expected {wanted} on this page, which has {models}")
    unmatched = Unmatched(option="part", patterns=(pattern,), hidden=any(found.values())).error(graph)
    raise ModelDiagramsError(str(unmatched).partition(": ")[2])


def count_earlier(shown: Sequence[Diagram], at: int) -> int:
    """Count the diagrams before one that have its id and a widget.

    Args:
        shown: The diagrams of the page, in order.
        at: Index of the diagram.
    """
    return sum(other.id == shown[at].id and is_interactive(other) for other in shown[:at])


def number_diagram(diagram: Diagram, shown: Sequence[Diagram]) -> Diagram:
    """Give a diagram its number among those of the page with its id."""
    return msgspec.structs.replace(diagram, place=sum(other.id == diagram.id for other in shown))


def link_part(part: DiagramPart) -> str | None:
    """Build the URL fragment that shows a part; None if the page only has the picture."""
    graph = part.diagram.graph
    modules = {node.id for node in graph.nodes if isinstance(node, ModuleNode)} if graph else ()
    is_module = part.is_live and part.ids[0] in modules
    return link_module(part.diagram.id, part.place, part.ids[0]) if is_module else None


def link_module(diagram_id: str, index: int, module: str) -> str:
    """Build the URL fragment that makes the widget show a module: ``pkg.Net?at=encoder.layers.0``.

    ``viewer/src/widget/menu/link_text.ts`` reads it.

    Args:
        diagram_id: The diagram's id.
        index: The diagram's number among those of its page with this id.
        module: The module's dotted path.
    """
    graph = _quote_id(diagram_id).replace("~", "%7E")
    return f"{graph}{f'~{index + 1}' if index else ''}?at={_quote_id(module)}"


@functools.lru_cache(maxsize=16_384)
def _quote_id(text: str) -> str:
    """Escape an id; cached because many models have modules of the same names."""
    return quote(text, safe=_PLAIN)


def _list_names(diagram: Diagram) -> set[str]:
    """List the names that an author may use for a diagram."""
    graph = diagram.graph
    of_graph = {graph.model.class_, graph.model.name} if graph else set[str]()
    return {diagram.options.call.model, diagram.options.figure.name or "", *diagram.own_names, *of_graph}


def _is_hidden(diagram: Diagram, name: str) -> bool:
    return bool(diagram.overlay and diagram.graph and diagram.overlay.hides(diagram.graph, name))


def _find_nodes(diagram: Diagram, pattern: str) -> tuple[str, ...]:
    """Return the author's groups of this name, or else the nodes that the pattern matches."""
    groups = diagram.overlay.groups if diagram.overlay else ()
    named = tuple(group.id for group in groups if pattern in {group.name, group.id})
    return named or (diagram.graph.matching(pattern) if diagram.graph else ())
