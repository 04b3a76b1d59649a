"""What a graph costs at other sizes of its inputs."""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from modeldiagrams.ir.bounds import bounds_of
from modeldiagrams.ir.chosen_sizes import complete_sizes, own_sizes
from modeldiagrams.ir.expressions import Expression, parse_expression
from modeldiagrams.ir.nodes import OpNode
from modeldiagrams.ir.sizes import NamedSizes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from modeldiagrams.ir.graph import Graph

__all__ = ["Cost", "CostSum", "ItemCosts", "SizeCosts", "costs_at"]

_Kind: TypeAlias = Literal["flops", "activation_bytes"]
_ONE = Expression.constant(1)


class Cost(NamedTuple):
    """An amount at some sizes.

    Attributes:
        amount: The number; None if it is not counted.
        sign: ``≥`` if some of it is unknown at these sizes, ``≤`` or ``≈`` if it rests on assumed values; else empty.
    """

    amount: int | None
    sign: str = ""


class CostSum(NamedTuple):
    """What a node, a function call or the model costs at all sizes.

    Attributes:
        expression: What is known of it; None if it is not counted.
        is_whole: Whether this is all. Otherwise it costs more at other sizes than those of the graph.
    """

    expression: Expression | None = None
    is_whole: bool = True


class ItemCosts(NamedTuple):
    """The costs of a node, a function call or the model."""

    flops: Cost
    activation_bytes: Cost


class SizeCosts:
    """Costs of a graph as expressions.

    Attributes:
        flops: Id of an op, module call or function call → its FLOPs; None → those of the model.
        activation_bytes: The same for bytes of op outputs.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._named = graph.sizes or NamedSizes(sizes={})
        self.flops = self._add_up("flops")
        self.activation_bytes = self._add_up("activation_bytes")

    def at(self, given: Mapping[str, int]) -> dict[str | None, ItemCosts]:
        """Compute the costs of everything at some sizes; those left out are those of the graph.

        Raises:
            ModelDiagramsError: for a size that is unknown, or that the model or the expressions don't take.
        """
        sizes = complete_sizes(self._graph, given)
        bounds = bounds_of(self._graph)
        flops = self._evaluate("flops", sizes, bounds.flops)
        nbytes = self._evaluate("activation_bytes", sizes, bounds.memory)
        return {item: ItemCosts(flops[item], nbytes[item]) for item in flops}

    def calls(self, node: str, sizes: Mapping[str, int]) -> Fraction:
        """How many calls at these sizes an op or module call stands for, per call of its parent; mostly 1."""
        return self._weight(node).evaluate(sizes)

    def _add_up(self, kind: _Kind) -> dict[str | None, CostSum]:
        graph = self._graph
        found: dict[str | None, CostSum] = defaultdict(CostSum)
        found[None] = CostSum()
        for node in reversed(graph.nodes):  # from the inside to the outside
            if isinstance(node, OpNode):
                found[node.id] = self._cost_of(node, kind)
            own = found[node.id]
            expression = own.expression and own.expression * self._weight(node.id)
            functions = graph.functions_around(node) if graph.functions else ()
            for around in (*(call.id for call in functions), graph.hierarchy[node.id]):
                so_far, is_whole = found[around]
                both = expression if so_far is None else so_far + expression if expression else so_far
                found[around] = CostSum(both, is_whole and own.is_whole)
        return dict(found)

    def _cost_of(self, op: OpNode, kind: _Kind) -> CostSum:
        number: int | None = getattr(op, kind)
        text = getattr(self._named, kind).get(op.id)
        if text is None and number is not None and not self._named.unknown.keys().isdisjoint((op.id, *op.outputs)):
            return CostSum(Expression.constant(0), is_whole=False)
        if text is None and number is None:
            return CostSum()
        return CostSum(parse_expression(text) if text else Expression.constant(number or 0))

    def _weight(self, node: str) -> Expression:
        """How many calls of a loop a node stands for at other sizes, as the graph has those of its own sizes."""
        text = self._named.times.get(node)
        if text is None:
            return _ONE
        times = parse_expression(text)
        return times * (1 / times.evaluate(own_sizes(self._graph)))

    def _evaluate(
        self, kind: _Kind, sizes: Mapping[str, int], assumed: frozenset[str | None]
    ) -> dict[str | None, Cost]:
        is_own = sizes == own_sizes(self._graph)
        assumed_sign = bounds_of(self._graph).cost_sign
        evaluate = functools.cache(lambda expression: expression.evaluate(sizes))  # equal layers have equal ones
        found = dict[str | None, Cost]()
        for item, (expression, is_whole) in getattr(self, kind).items():
            signs = {assumed_sign} if item in assumed else set[str]()
            if is_own or expression is None:
                found[item] = Cost(getattr(self._find(item), kind, None), "".join(signs))
                continue
            value = evaluate(expression)
            signs |= {self._sign_of(name, sizes) for name in expression.names}
            signs |= {"" if is_whole else "≥", "" if value.denominator == 1 else "≈"}
            signs.discard("")
            found[item] = Cost(round(value), signs.pop() if len(signs) == 1 else "≈" if signs else "")
        return found

    def _find(self, item: str | None) -> object:
        return self._graph.model if item is None else self._graph.functions.get(item) or self._graph.by_id[item]

    def _sign_of(self, name: str, sizes: Mapping[str, int]) -> str:
        """The sign of what rests on a size: values decide some, and are assumed unless someone sets the size."""
        size = self._named.sizes[name]
        if not size.counted:
            return ""
        most = parse_expression(size.bound).evaluate(sizes) if size.bound else size.size
        return ("≤" if size.bound else "≈") if sizes[name] == most else ""


def costs_at(graph: Graph, sizes: Mapping[str, int]) -> dict[str | None, ItemCosts]:
    """Compute what everything in a graph costs at other sizes: ``costs_at(graph, {"T": 8192, "B": 4})``.

    Args:
        graph: The graph.
        sizes: Name → size; those left out are those of the graph.

    Returns:
        Id of an op, module call or function call → its costs; None → those of the model. Costs of a call are those of
        one call, however often a loop makes it at these sizes; sums around it count every call.

    Raises:
        ModelDiagramsError: for a size that is unknown, or that the model or the expressions don't take.
    """
    return SizeCosts(graph).at(sizes)
