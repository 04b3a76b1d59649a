"""What a graph costs at other sizes of its inputs."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from modeldiagrams.ir.bounds import bounds_of
from modeldiagrams.ir.chosen_sizes import complete_sizes, evaluate_bound, own_sizes
from modeldiagrams.ir.expressions import Expression, parse_expression
from modeldiagrams.ir.nodes import OpNode
from modeldiagrams.ir.sizes import NamedSizes

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """What one or more nodes cost at all sizes.

    Attributes:
        expression: What is known of it; None if it is not counted.
        rest: What the rest costs at the graph's own sizes, and more or less at others; None if there is no rest.
    """

    expression: Expression | None = None
    rest: Expression | None = None

    def plus(self, other: CostSum) -> CostSum:
        """Add."""
        pairs = zip(self, other, strict=True)
        return CostSum(*(a + b if a is not None and b is not None else b if a is None else a for a, b in pairs))

    def times(self, factor: Expression) -> CostSum:
        """Multiply."""
        return CostSum(*(part and part * factor for part in self))


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
        self._own = own_sizes(graph)
        self._bounds = bounds_of(graph)
        self.flops = self._add_up("flops")
        self.activation_bytes = self._add_up("activation_bytes")

    def measure(self, item: str | None, sizes: Mapping[str, int], calls: Expression = _ONE) -> ItemCosts:
        """Compute the costs of some calls at sizes that are complete."""
        return ItemCosts(
            self._measure(self.flops[item].times(calls), sizes, is_assumed=item in self._bounds.flops),
            self._measure(self.activation_bytes[item].times(calls), sizes, is_assumed=item in self._bounds.memory),
        )

    def calls(self, node: str) -> Expression:
        """How many calls a node stands for at other sizes, per call of what is around it; 1 outside of loops."""
        times = parse_expression(self._named.times.get(node, "1"))
        return times * (1 / times.evaluate(self._own))

    def _add_up(self, kind: _Kind) -> dict[str | None, CostSum]:
        graph = self._graph
        found = defaultdict[str | None, CostSum](CostSum, {None: CostSum()})
        for node in reversed(graph.nodes):  # from the inside to the outside
            if isinstance(node, OpNode):
                found[node.id] = self._cost_of(node, kind)
            cost = found[node.id].times(self.calls(node.id))
            functions = graph.functions_around(node) if graph.functions else ()
            for around in (*(call.id for call in functions), graph.hierarchy[node.id]):
                found[around] = found[around].plus(cost)
        return dict(found)

    def _cost_of(self, op: OpNode, kind: _Kind) -> CostSum:
        number: int | None = getattr(op, kind)
        if text := getattr(self._named, kind).get(op.id):
            return CostSum(parse_expression(text))
        if number is None:
            return CostSum()
        is_known = self._named.unknown.keys().isdisjoint((op.id, *op.outputs))
        own = Expression.constant(number)
        return CostSum(own) if is_known else CostSum(own * 0, rest=own)

    def _measure(self, cost: CostSum, sizes: Mapping[str, int], *, is_assumed: bool) -> Cost:
        signs = {self._bounds.cost_sign} if is_assumed else set[str]()
        if cost.expression is None:
            return Cost(None, "".join(signs))
        amount = cost.expression.evaluate(sizes)
        if sizes == self._own:
            amount += cost.rest.evaluate(sizes) if cost.rest else 0
        else:
            if cost.rest or any(self._named.sizes[name].counted for name in cost.expression.names):
                signs.clear()  # what is assumed has names, or is not in the sum
            signs |= {self._sign_of(name, sizes) for name in cost.expression.names}
            signs |= {"" if cost.rest is None else "≥", "" if amount.denominator == 1 else "≈"}
            signs.discard("")
        return Cost(round(amount), signs.pop() if len(signs) == 1 else "≈" if signs else "")

    def _sign_of(self, name: str, sizes: Mapping[str, int]) -> str:
        """The sign of what rests on a size: values decide some, and are assumed unless someone sets the size."""
        size = self._named.sizes[name]
        is_assumed = size.counted and sizes[name] == evaluate_bound(size, sizes)
        return ("≤" if size.bound else "≈") if is_assumed else ""


def costs_at(graph: Graph, sizes: Mapping[str, int]) -> dict[str | None, ItemCosts]:
    """Compute what everything in a graph costs at other sizes: ``costs_at(graph, {"T": 8192, "B": 4})``.

    Returns:
        Id of an op, module call or function call → its costs; None → those of the model. Costs of a call are those of
        one call, however often a loop makes it at these sizes; sums around it count every call.

    Raises:
        ModelDiagramsError: for a size that is unknown, or that the model or the expressions don't take.
    """
    costs, complete = SizeCosts(graph), complete_sizes(graph, sizes)
    return {item: costs.measure(item, complete) for item in costs.flops}
