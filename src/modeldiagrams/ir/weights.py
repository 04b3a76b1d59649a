"""Puts weights before their readers: their places follow from the edges."""

from __future__ import annotations

from collections import defaultdict
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.ir.nodes import BufferNode, ConstantNode, ModuleNode, Node, OpNode, OutputNode, ParameterNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from modeldiagrams.ir.nodes import Edge, FunctionCall

__all__ = ["is_weight", "place_weights"]


def is_weight(node: Node) -> bool:
    """Whether a node is a parameter, a buffer, or a constant with a name."""
    return isinstance(node, ParameterNode | BufferNode) or (isinstance(node, ConstantNode) and node.name is not None)


def place_weights(
    nodes: Sequence[Node],
    parents: Mapping[str, str | None],
    functions: Mapping[str, FunctionCall],
    adjacency: Mapping[str, Sequence[Edge]],
) -> tuple[tuple[Node, ...], dict[str, str | None]]:
    """Put every weight before its first reader, into the innermost call around all its readers, as the tracer does.

    Args:
        nodes: All nodes, in order; the weights may be anywhere among them.
        parents: Parents of all other nodes.
        functions: Function calls by id.
        adjacency: Edges by source, in the order of their targets.

    Returns:
        The nodes in order, and the parents of all.
    """
    steps = [node for node in nodes if not is_weight(node)]
    weights = [node for node in nodes if is_weight(node)]
    hierarchy = {node.id: parents[node.id] for node in steps}
    if weights:
        steps = [*_insert(weights, steps, hierarchy, functions, adjacency)]
    return tuple(steps), {node.id: hierarchy[node.id] for node in steps}


def _insert(
    weights: list[Node],
    steps: list[Node],
    hierarchy: dict[str, str | None],
    functions: Mapping[str, FunctionCall],
    adjacency: Mapping[str, Sequence[Edge]],
) -> Iterator[Node]:
    order = {node.id: i for i, node in enumerate(steps)}
    around, starts = _find_calls(steps, hierarchy, functions)
    end = next((i for i, node in enumerate(steps) if isinstance(node, OutputNode)), len(steps))
    firsts = {node.id: min((order[edge.to] for edge in adjacency.get(node.id, ())), default=end) for node in weights}
    before: dict[int, list[tuple[int, Node]]] = defaultdict(list)  # position → depth of a weight, and the weight
    for weight in sorted(weights, key=lambda node: firsts[node.id]):
        chains = [around[edge.to] for edge in adjacency.get(weight.id, ()) if edge.to in around]
        shared = [calls[0] for calls in takewhile(lambda calls: len({*calls}) == 1, zip(*chains, strict=False))]
        hierarchy[weight.id] = next((call for call in reversed(shared) if call not in functions), None)
        scope = shared[-1] if shared and shared[-1] in functions else None
        towards = chains[0][len(shared) :] if chains else ()  # the calls around the first reader, but not the weight
        position = starts[towards[0]] if towards else min(firsts[weight.id], end)
        placed: Any = msgspec.structs.replace(weight, scope=scope)
        before[position].append((len(shared), placed))
    for i in range(len(steps) + 1):
        yield from (weight for _, weight in sorted(before.get(i, ()), key=lambda found: found[0]))
        yield from steps[i : i + 1]


def _find_calls(
    steps: list[Node], hierarchy: Mapping[str, str | None], functions: Mapping[str, FunctionCall]
) -> tuple[dict[str, tuple[str, ...]], dict[str, int]]:
    """Return the calls around each op, the outermost first, and the position of each call's first step."""
    chains: dict[str | None, tuple[str, ...]] = {None: ()}

    def chain(call: str | None) -> tuple[str, ...]:
        if call not in chains:  # a function call, because module calls come before what is inside
            chains[call] = (*chain(functions[call].parent), call)  # type: ignore[index,arg-type]
        return chains[call]

    ops: dict[str, tuple[str, ...]] = {}
    starts: dict[str, int] = {}
    for i, node in enumerate(steps):
        calls = chain(getattr(node, "scope", None) or hierarchy[node.id])
        if isinstance(node, ModuleNode):
            calls = chains[node.id] = (*calls, node.id)
        elif isinstance(node, OpNode):
            ops[node.id] = calls
        for call in calls:
            starts.setdefault(call, i)
    return ops, starts
