"""Finds the largest sizes that a model takes: as many tokens as it has positions, for example."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from modeldiagrams.ir.graph import InputNode, OpNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.resolve.dimensions.size_fits import SizeFits
    from modeldiagrams.resolve.dimensions.sized_passes import SizedPasses

    Sources: TypeAlias = list[tuple[str, str, str]]
    """Node, tensor and argument of each edge into a node."""

__all__ = ["find_limit"]

_MOST_TRIES = 2
_OUT_OF_BOUNDS = re.compile(r"index (\d+) is out of bounds for dimension \d+ with size (\d+)")
"""What `kernel_checks` says."""
_ONLY_SHAPES = {
    "__getitem__",
    "contiguous",
    "expand",
    "flatten",
    "long",
    "reshape",
    "squeeze",
    "to",
    "unsqueeze",
    "view",
}


def find_limit(passes: SizedPasses, fits: SizeFits, name: str) -> tuple[int, str] | None:
    """The largest size that the model takes, and what sets it; None if that is not known.

    Args:
        passes: Runs the model.
        fits: Which tensors have the size.
        name: A size that may change.
    """
    base, graph = passes.base[name], passes.graph
    worked = max((sizes[name] for sizes, _ in passes.ran), default=base)
    refused, why = min(
        ((size, why) for size, why in passes.refused.get(name, {}).items() if size > base), default=(0, "")
    )
    if refused:
        rows = [(size, weight) for weight, spec in graph.parameters.items() for size in (spec.shape or ())[:2]]
        candidates = rows + [(int(number), why) for number in re.findall(r"\d+", why)]
        candidates = [(size, by) for size, by in candidates if worked <= size < refused]
    else:
        candidates = [(size, by) for size, by in _find_position_tables(graph, fits, name) if size >= worked]
    for size, by in sorted(dict(reversed(candidates)).items())[:_MOST_TRIES]:
        graph_or_why = passes.run({name: size + 1})
        if not isinstance(graph_or_why, str):
            continue
        if match := _OUT_OF_BOUNDS.search(graph_or_why):  # some models begin with a higher position than 0
            return size - (int(match[1]) - int(match[2])), by
        if size == worked or not isinstance(passes.run({name: size}), str):
            return size, by
    return None


def _find_position_tables(graph: Graph, fits: SizeFits, name: str) -> Iterator[tuple[int, str]]:
    """Rows and names of embeddings in which something else than an input is looked up: positions."""
    sources: dict[str, Sources] = {}
    for source, edges in graph.adjacency.items():
        for edge in edges:
            sources.setdefault(edge.to, []).append((source, edge.tensor, edge.argument))
    for op in graph.nodes:
        if not isinstance(op, OpNode) or not op.name.endswith(".embedding"):
            continue
        given = {argument: (source, tensor) for source, tensor, argument in sources.get(op.id, ())}
        weight = op.weights.get("weight") or given.get("weight", ("", ""))[0].partition(":")[2]
        start, index = given.get("input", ("", ""))
        rank = len(graph.tensors[index].shape or ()) if index else 0
        found = [fits.expressions.get(("tensors", index, str(i))) for i in range(rank)]
        has_name = sum(expression is not None and name in expression.names for expression in found) == 1  # not T×T
        shape = graph.parameters[weight].shape if weight in graph.parameters else None
        if has_name and shape and not _is_input(graph, sources, start):
            yield shape[0], weight


def _is_input(graph: Graph, sources: Mapping[str, Sources], start: str) -> bool:
    """Whether a node is an input, or only changes its shape."""
    while isinstance(node := graph.by_id.get(start), OpNode) and node.name.rpartition(".")[2] in _ONLY_SHAPES:
        start = sources[start][0][0]
    return isinstance(node, InputNode)
