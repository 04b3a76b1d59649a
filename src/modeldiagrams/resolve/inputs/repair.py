"""Repair of candidates: a layer that got 28 features and takes 18 shows by how much an input was too wide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldiagrams.ir.graph import Graph, OpNode
from modeldiagrams.resolve.names.candidates import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Repaired", "refused_width", "repaired"]


class Repaired(Candidate):
    """A candidate made from another one; it is not repaired again."""


def refused_width(graph: Graph) -> tuple[int, int] | None:
    """The width that a layer got, and the one that it takes.

    Args:
        graph: Of a pass that raised.

    Returns:
        Sizes of the last dimension; None if the pass did not end in a product with a weight.
    """
    failed = graph.status.error.node if graph.status.error else None
    op = next((node for node in graph.nodes if isinstance(node, OpNode) and node.id == failed), None)
    if op is None or not op.name.endswith("linear"):
        return None
    weight = next((graph.parameters[name].shape for name in op.weights.values() if name in graph.parameters), None)
    inputs = [edge.tensor for edges in graph.adjacency.values() for edge in edges if edge.to == failed]
    shape = graph.tensors[inputs[0]].shape if inputs else None
    if not weight or not shape or not isinstance(shape[-1], int):
        return None
    return shape[-1], weight[-1]


def repaired(candidate: Candidate, got: int, wanted: int) -> Iterator[Repaired]:
    """A tensor of floats with another last size: by the difference, for inputs that are joined, or by the ratio."""
    shape: Any = candidate.entry
    if isinstance(candidate, Repaired) or not isinstance(shape, list) or not shape or not isinstance(shape[-1], int):
        return
    width = shape[-1]
    sizes = {width + wanted - got} | ({width * wanted // got} if got and width * wanted % got == 0 else set())
    for size in sorted(sizes - {width}):
        if size > 0:
            yield Repaired([*shape[:-1], size], f"a layer takes {wanted} features, not {got}")
