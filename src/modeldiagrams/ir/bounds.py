"""Which sizes and costs of a graph depend on values that its pass assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.ir.nodes import OpNode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.ir.graph import Graph

__all__ = ["UPPER", "Bounds", "bounds_of", "with_outer"]

UPPER = frozenset({"every element", "all different"})
"""Assumptions that give the largest possible size, as in `viewer/src/view/labels/tensor_labels.ts`."""


class Bounds(NamedTuple):
    """What depends on assumed values.

    Attributes:
        sign: For sizes: ``≤`` if all assumed ones are upper bounds, else ``≈``.
        cost_sign: For costs; the same, or ``≈`` if they are those of this input.
        tensors: Ids of tensors whose sizes depend on them.
        flops: Ids of nodes and function calls whose FLOPs depend on them; None is the model.
        memory: The same for bytes of activations.
    """

    sign: str
    cost_sign: str
    tensors: frozenset[str]
    flops: frozenset[str | None]
    memory: frozenset[str | None]


def bounds_of(graph: Graph) -> Bounds:
    """Find what depends on assumed values."""
    status = graph.status
    sizes = [guess.value for guess in status.guesses if not isinstance(guess.value, bool | float)]
    tensors = frozenset(status.assumed_tensors)
    makers = {node.id for node in graph.nodes if isinstance(node, OpNode) and tensors.intersection(node.outputs)}
    sign = "≤" if all(size in UPPER for size in sizes) else "≈"
    return Bounds(
        sign=sign,
        cost_sign="≈" if status.costs_of_input else sign,
        tensors=tensors,
        flops=_with_model(status.assumed_flops),
        memory=_with_model(with_outer(graph, makers)),
    )


def with_outer(graph: Graph, ops: Iterable[str]) -> set[str]:
    """Ids of ops, and of the module calls and function calls around them."""
    found = set(ops)
    for op in [*found]:
        for item in (op, *(module.id for module in graph.ancestors(op))):
            found |= {item, *(call.id for call in graph.functions_around(item))}
    return found


def _with_model(items: Iterable[str]) -> frozenset[str | None]:
    found: set[str | None] = {*items}
    return frozenset(found | {None} if found else found)
