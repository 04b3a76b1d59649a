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

__all__ = ["NOTHING", "Call", "Level", "Levels", "Read", "maker_of"]

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

_PICKING = frozenset(("getitem", "select", "narrow", "slice", "cat", "concat", "concatenate"))
"""Ops that are plumbing if their output has as many elements as their input; such a `pad` shifts."""

_NEUTRAL = ((re.compile(r"(r|i)?mul|i?(true)?div"), 1), (re.compile(r"(r|i)?add|i?sub"), 0))
"""Ops that are plumbing with this operand."""

NOTHING = re.compile(r"Identity|.*Drop(out|Path).*")
"""Modules that may return their input; then an op of the module's name is all they contain."""

_FIRST = {name: i for i, name in enumerate(("self", "input", "query", "mat1", "other", "key", "mat2", "value"))}
"""The order of arguments whose order matters; others follow in the order of execution."""

_LEAST_OPS = 3
"""Functions with fewer visible ops are not shown, as in pictures."""


class Read(NamedTuple):
    """A value that a part of a call reads.

    Attributes:
        part: Id of the part of the same call that makes it; "" if it comes from outside.
        tensor: Id of the tensor, before plumbing.
        is_inferred: Whether its values left torch on the way.
    """

    part: str
    tensor: str
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
        self._origins = self._find_origins()
        self._ops = {node.id for node in graph.nodes if self._is_visible(node)}
        self._functions = self._find_functions()
        self._chains: dict[str, list[str]] = {}
        self.by_call: dict[str | None, Level] = defaultdict(lambda: Level([], defaultdict(dict)))
        shown = dict.fromkeys(item for node in self._ops_in_order() for item in reversed(self._chain(node)))
        for item in shown:
            self.by_call[self.outer(item)].parts.append(item)
        for target, (tensor, is_inferred) in self._edges():
            self._note(target, tensor, is_inferred=is_inferred)

    def origin(self, tensor: str) -> str:
        """Return the id of the tensor that plumbing passes on as this one."""
        return self._origins.get(tensor, tensor)

    def maker(self, tensor: str) -> str:
        """Return the id of the node that makes a tensor, before plumbing."""
        return maker_of(self.origin(tensor))

    def part_of(self, call: str | None, node: str) -> str:
        """Return the part of a call that is or contains a node; "" if it is outside."""
        inside = node
        for outer in [*self._chain(node)[1:], None]:
            if outer == call:
                return inside
            inside = outer or ""
        return ""

    def _find_origins(self) -> dict[str, str]:
        """Map the results of plumbing to the tensors that they are, in another form."""
        feeding = defaultdict[str, list[Edge]](list)
        for edges in self._graph.adjacency.values():
            for edge in edges:
                if edge.flow != "shape":
                    feeding[edge.to].append(edge)
        found = dict[str, str]()
        for node in self._graph.nodes:  # in execution order
            before = feeding[node.id]
            if isinstance(node, OpNode) and _read_alone(before) and self._is_plumbing(node, before[0].tensor):
                found[node.outputs[0]] = found.get(before[0].tensor, before[0].tensor)
        return found

    def _is_plumbing(self, node: OpNode, tensor: str) -> bool:
        if len(node.outputs) != 1:
            return False
        name = short_name(node.name)
        if name in _PLUMBING:
            return node.arguments.get("training") is not True
        if any(form.fullmatch(name) and node.arguments.get("other") == value for form, value in _NEUTRAL):
            return True
        before, after = self._graph.tensors[tensor], self._graph.tensors[node.outputs[0]]
        if node.id == f"{self._graph.hierarchy[node.id]}/{name}" and NOTHING.fullmatch(name):
            return before.shape == after.shape and before.dtype == after.dtype
        is_whole = before.shape is not None and after.shape is not None and _count(before.shape) == _count(after.shape)
        return name in _PICKING and is_whole

    def _is_visible(self, node: Node) -> bool:
        if isinstance(node, ModuleNode | ConstantNode):
            return False
        return not (isinstance(node, OpNode) and node.outputs and node.outputs[0] in self._origins)

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
        if node not in self._chains:
            outer = self.outer(node)
            self._chains[node] = [node, *(self._chain(outer) if outer is not None else ())]
        return self._chains[node]

    def _edges(self) -> Iterator[tuple[str, tuple[str, bool]]]:
        """Yield visible nodes with a tensor that they read and whether that is inferred, in the order of arguments."""
        found = [
            (_FIRST.get(edge.argument, len(_FIRST)), edge.to, self.origin(edge.tensor), edge.flow == "inferred")
            for edges in self._graph.adjacency.values()
            for edge in edges
            if edge.to in self._ops and self.maker(edge.tensor) in self._ops and edge.flow != "shape"
        ]
        for _, target, tensor, is_inferred in sorted(found, key=itemgetter(0)):
            yield target, (tensor, is_inferred)

    def _note(self, target: str, tensor: str, *, is_inferred: bool) -> None:
        """Note an edge at the level that contains both ends, and at those inside it."""
        makers = {outer: inside for inside, outer in _steps(self._chain(maker_of(tensor)))}
        for inside, outer in _steps(self._chain(target)):
            part = makers.get(outer, "")
            self.by_call[outer].reads[inside][Read(part, tensor, is_inferred)] = None
            if part:
                return


def maker_of(tensor: str) -> str:
    """Return the id of the node that makes a tensor."""
    return tensor.rpartition(":")[0]


def _read_alone(edges: list[Edge]) -> bool:
    """Whether an op reads one tensor: in each case, if cases read different ones."""
    cases = [case for edge in edges for case in edge.cases]
    return len(edges) == 1 or (bool(cases) and all(edge.cases for edge in edges) and len(cases) == len({*cases}))


def _count(shape: tuple[int | str, ...]) -> int:
    return prod(size if isinstance(size, int) else -1 for size in shape)


def _steps(chain: list[str]) -> Iterator[tuple[str, str | None]]:
    """Yield each item of a chain with the call directly around it."""
    return zip(chain, [*chain[1:], None], strict=True)
