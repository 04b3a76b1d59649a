"""Arranges a graph as levels: what a call contains, and what each part reads, without plumbing such as reshapes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from modeldiagrams.ir.graph import ConstantNode, Edge, FunctionCall, ModuleNode, OpNode
from modeldiagrams.ir.queries import short_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.ir.graph import Graph, Node

__all__ = ["Call", "Level", "Levels", "Read"]

Call: TypeAlias = "ModuleNode | FunctionCall"

_PLUMBING = frozenset(
    re.findall(
        r"\w+",
        "view view_as reshape transpose permute contiguous squeeze unsqueeze flatten unflatten expand expand_as to type"
        " type_as float half bfloat16 t movedim swapaxes clone detach alias identity dropout feature_dropout"
        " requires_grad pin_memory broadcast_to rearrange cuda cpu mT T adjoint",
    )
)
"""Ops that return their input unchanged or as another view, as in `viewer/src/graph/plumbing.ts`."""

_PICKING = frozenset(("getitem", "select", "narrow", "slice", "cat", "concat", "concatenate", "pad"))
"""Ops that are plumbing if their output has as many elements as their input."""

_FIRST = {name: i for i, name in enumerate(("self", "input", "query", "mat1", "other", "key", "mat2", "value"))}
"""The order of arguments whose order matters; others follow in the order of execution."""

_LEAST_OPS = 3
"""Functions with fewer visible ops are not shown, as in pictures."""


class Read(NamedTuple):
    """A value that a part of a call reads.

    Attributes:
        part: Id of the part of the same call that makes it; "" if it comes from outside.
        source: Id of the node that makes it.
        is_inferred: Whether its values left torch on the way.
    """

    part: str
    source: str
    is_inferred: bool = False


class Level(NamedTuple):
    """The content of a call.

    Attributes:
        parts: Ids of nodes and function calls directly in it, in execution order.
        reads: Id of a part → what it reads, in the order of its first use.
    """

    parts: list[str]
    reads: dict[str, dict[Read, None]]


class Levels:
    """All levels of a graph.

    Attributes:
        by_call: Id of a module call or function call → its content; None is the model.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._makers = self._find_makers()
        self._ops = {node.id for node in graph.nodes if self._is_visible(node)}
        self._functions = self._find_functions()
        self.by_call: dict[str | None, Level] = defaultdict(lambda: Level([], defaultdict(dict)))
        shown = dict.fromkeys(item for node in self._ops_in_order() for item in reversed(self._chain(node)))
        for item in shown:
            self.by_call[self.outer(item)].parts.append(item)
        for target, (source, is_inferred) in self._edges():
            self._note(target, source, is_inferred=is_inferred)

    def maker(self, tensor: str) -> str:
        """Return the id of the node that makes a tensor, before plumbing."""
        return self._makers[tensor.rpartition(":")[0]]

    def part_of(self, call: str | None, node: str) -> str:
        """Return the part of a call that is or contains a node; "" if it is outside."""
        inside = node
        for outer in [*self._chain(node)[1:], None]:
            if outer == call:
                return inside
            inside = outer or ""
        return ""

    def _find_makers(self) -> dict[str, str]:
        """Map nodes to themselves, and plumbing to the node whose result it passes on."""
        feeding = dict[str, Edge]()
        makers = dict[str, str]()
        for source, edges in self._graph.adjacency.items():
            for edge in edges:
                if edge.flow != "shape" and edge.to not in feeding:
                    feeding[edge.to], makers[edge.to] = edge, source
        found = dict[str, str]()
        for node in self._graph.nodes:  # in execution order
            before = feeding.get(node.id)
            is_plumbing = before and isinstance(node, OpNode) and self._is_plumbing(node, before.tensor)
            found[node.id] = found.get(makers[node.id], makers[node.id]) if is_plumbing else node.id
        return found

    def _is_plumbing(self, node: OpNode, tensor: str) -> bool:
        name = short_name(node.name)
        if name not in _PICKING or len(node.outputs) != 1:
            return name in _PLUMBING
        before, after = self._graph.tensors[tensor].shape, self._graph.tensors[node.outputs[0]].shape
        return before is not None and after is not None and _count(before) == _count(after)

    def _is_visible(self, node: Node) -> bool:
        return not isinstance(node, ModuleNode | ConstantNode) and self._makers[node.id] == node.id

    def _ops_in_order(self) -> Iterator[str]:
        return (node.id for node in self._graph.nodes if node.id in self._ops)

    def _find_functions(self) -> set[str]:
        """Find the function calls with enough ops and without module calls."""
        counts, closed = Counter[str](), set(self._graph.functions)
        for node in self._graph.nodes:
            around = [call.id for call in self._graph.functions_around(node)]
            if isinstance(node, ModuleNode):
                closed.difference_update(around)
            elif node.id in self._ops:
                counts.update(around)
        return {name for name in closed if counts[name] >= _LEAST_OPS}

    def outer(self, item: str) -> str | None:
        """Return the id of the module call or shown function call directly around a node or call; None is the model."""
        node = self._graph.functions.get(item) or self._graph.by_id[item]
        for call in self._graph.functions_around(node):
            if call.id in self._functions:
                return call.id
        module = node
        while isinstance(module, FunctionCall):
            if module.parent not in self._graph.functions:
                return module.parent
            module = self._graph.functions[module.parent]
        return self._graph.hierarchy[module.id]

    def _chain(self, node: str) -> list[str]:
        """List a node and the calls around it, the innermost first."""
        found, at = [node], self.outer(node)
        while at is not None:
            found.append(at)
            at = self.outer(at)
        return found

    def _edges(self) -> Iterator[tuple[str, tuple[str, bool]]]:
        """Yield visible nodes with each node that they read and whether that is inferred, in the order of arguments."""
        found = [
            (_FIRST.get(edge.argument, len(_FIRST)), edge.to, self._makers[source], edge.flow == "inferred")
            for source, edges in self._graph.adjacency.items()
            for edge in edges
            if edge.to in self._ops and self._makers[source] in self._ops and edge.flow != "shape"
        ]
        for _, target, maker, is_inferred in sorted(found, key=itemgetter(0)):
            yield target, (maker, is_inferred)

    def _note(self, target: str, source: str, *, is_inferred: bool) -> None:
        """Note an edge at the level that contains both ends, and at those inside it."""
        makers = {outer: inside for inside, outer in _steps(self._chain(source))}
        for inside, outer in _steps(self._chain(target)):
            part = makers.get(outer, "")
            self.by_call[outer].reads[inside][Read(part, source, is_inferred)] = None
            if part:
                return


def _count(shape: tuple[int | str, ...]) -> int:
    return prod(size if isinstance(size, int) else -1 for size in shape)


def _steps(chain: list[str]) -> Iterator[tuple[str, str | None]]:
    """Yield each item of a chain with the call directly around it."""
    return zip(chain, [*chain[1:], None], strict=True)
