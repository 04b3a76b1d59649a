"""Finds what depends on assumed sizes: it differs in a pass that assumes others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.ir.bounds import with_outer
from modeldiagrams.ir.graph import OpNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from modeldiagrams.ir.graph import Graph

__all__ = ["mark_assumed"]


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
