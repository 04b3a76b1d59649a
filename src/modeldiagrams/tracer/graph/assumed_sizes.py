"""Finds what depends on assumed sizes: it differs in a pass that assumes others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from modeldiagrams.ir.bounds import with_outer
from modeldiagrams.ir.graph import OpNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from modeldiagrams.ir.graph import Graph

__all__ = ["is_small", "mark_assumed", "take_costs"]

C = TypeVar("C", bound=msgspec.Struct)

_MOST_PARAMETERS = 2 * 10**7
_MOST_ELEMENTS = 5 * 10**7
"""How many numbers a real pass for costs may compute; a count, so that the same models have one on every machine."""


def mark_assumed(graph: Graph, run_with_fewer: Callable[[], tuple[Graph, Any]]) -> Graph:
    """Note which sizes and costs depend on assumed sizes.

    Args:
        graph: A complete pass.
        run_with_fewer: Runs the same pass with other assumed sizes; returns its graph, and the files that ran.
    """
    assumed = [guess.node for guess in graph.status.guesses if _is_size(guess.value)]
    if not assumed:
        return graph
    other, _ = run_with_fewer()
    if (
        other.status.error is None
        and list(other.by_id) == list(graph.by_id)
        and [*other.functions] == [*graph.functions]
    ):
        tensors = {key for key, spec in graph.tensors.items() if spec.shape != other.tensors[key].shape}
        ops = {op.id for op, again in zip(_ops(graph), _ops(other), strict=True) if op.flops != again.flops}
    else:  # another way through the model: whatever comes after an assumption
        after = _reached(graph, assumed)
        tensors = {tensor for op in _ops(graph) if op.id in after for tensor in op.outputs}
        ops = {op.id for op in _ops(graph) if op.id in after and op.flops}
    costly = with_outer(graph, ops)
    status = msgspec.structs.replace(
        graph.status,
        assumed_tensors=tuple(tensor for tensor in graph.tensors if tensor in tensors),
        assumed_flops=tuple(key for key in (*graph.by_id, *graph.functions) if key in costly),
    )
    return msgspec.structs.replace(graph, status=status)


def is_small(graph: Graph) -> bool:
    """Whether a real pass takes little, judged by the numbers in weights and tensors."""
    sizes = (math.prod(size for size in spec.shape or () if isinstance(size, int)) for spec in graph.tensors.values())
    return graph.model.parameters.total <= _MOST_PARAMETERS and sum(sizes) <= _MOST_ELEMENTS


def take_costs(graph: Graph, real: Graph) -> Graph:
    """Replace costs that depend on assumed sizes by those of a real pass that took the same way.

    Sizes stay as assumed: equal modules then look equal, and the digest doesn't depend on values.

    Args:
        graph: A graph that `mark_assumed` returned.
        real: The pass with real values.
    """
    parts = [(one.by_id.keys(), one.functions.keys(), one.adjacency) for one in (graph, real)]
    if real.status.error is not None or parts[0] != parts[1]:
        return graph
    return msgspec.structs.replace(
        graph,
        model=_with_costs(graph.model, real.model),
        nodes=tuple(_with_costs(node, real.node(node.id)) for node in graph.nodes),
        functions={name: _with_costs(call, real.functions[name]) for name, call in graph.functions.items()},
        status=msgspec.structs.replace(graph.status, costs_of_input=True),
    )


def _with_costs(item: C, real: Any) -> C:
    if not hasattr(item, "activation_bytes"):
        return item
    return msgspec.structs.replace(item, flops=real.flops, activation_bytes=real.activation_bytes)


def _is_size(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def _ops(graph: Graph) -> Iterable[OpNode]:
    return (node for node in graph.nodes if isinstance(node, OpNode))


def _reached(graph: Graph, start: Iterable[str | None]) -> set[str]:
    reached = {node for node in start if node is not None}
    for node in graph.nodes:  # edges run forward
        if node.id in reached:
            reached |= {edge.to for edge in graph.adjacency.get(node.id, ())}
    return reached
