"""Finds the nodes of a graph again in a pass at other sizes, whose loops may run more often."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from modeldiagrams.ir.graph import ModuleNode, OpNode

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Graph, Node

    Step: TypeAlias = tuple[Any, ...]
    """What is the same for all runs of one line: the module around it, the name, the line, the weights."""

__all__ = ["PairedNodes", "list_steps", "pair_nodes"]


@dataclass
class PairedNodes:
    """The nodes of a pass by those of the graph."""

    nodes: dict[str, Node] = field(default_factory=dict)
    """Id in the graph → the node of the pass. In a loop with fewer rounds, the last one stands for those it lacks."""
    rounds: dict[str, int] = field(default_factory=dict)
    """Id of a node in the graph, in a loop with another number of rounds → that number in the pass."""
    uneven: set[str] = field(default_factory=set)
    """Ids in the graph, of a loop in which not all rounds are equal: they make other shapes, or cost more."""
    new: list[Node] = field(default_factory=list)
    """Nodes of the pass that the graph has nothing for."""


def pair_nodes(graph: Graph, other: Graph) -> PairedNodes:
    """Find the nodes of a graph again in another pass of the same model."""
    mine, others = list_steps(graph), list_steps(other)
    found = PairedNodes()
    for step, nodes in mine.items():
        again = others.pop(step, [])
        if not again:
            continue
        found.nodes.update((node.id, again[min(i, len(again) - 1)]) for i, node in enumerate(nodes))
        if len(again) != len(nodes):
            found.rounds.update((node.id, len(again)) for node in nodes)
            if len({_look(node, graph) for node in nodes}) > 1 or len({_look(node, other) for node in again}) > 1:
                found.uneven.update(node.id for node in nodes)
    found.new = [node for nodes in others.values() for node in nodes]
    return found


def list_steps(graph: Graph) -> dict[Step, list[Node]]:
    """The nodes of each step, in the order in which they ran."""
    found: dict[Step, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        found[_step(node, graph)].append(node)
    return found


def _step(node: Node, graph: Graph) -> Step:
    if isinstance(node, ModuleNode):
        return ("module", node.path, node.class_)
    if not isinstance(node, OpNode):
        return (node.kind, node.id)
    parent = graph.hierarchy[node.id]
    holder = graph.by_id[parent] if parent else None
    path = holder.path if isinstance(holder, ModuleNode) else ""
    return ("op", path, node.name, node.source, tuple(sorted(node.weights.items())))


def _look(node: Node, graph: Graph) -> Any:
    """What is equal in all rounds of an even loop."""
    if not isinstance(node, OpNode):
        return None
    shapes = tuple((spec.shape, spec.dtype) for spec in (graph.tensors[tensor] for tensor in node.outputs))
    return shapes, node.flops, node.activation_bytes
