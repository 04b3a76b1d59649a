"""Reads what may change with sizes from passes, by the nodes of the graph; their loops may run more often."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from modeldiagrams.ir.graph import ModuleNode, OpNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.ir.graph import Graph, Node

    Key: TypeAlias = tuple[str, ...]
    """A field of `NamedSizes`, and where in it: ``("tensors", "/add:0", "1")``."""
    Step: TypeAlias = tuple[Any, ...]
    """What is the same for all runs of one line: the module around it, the name, the line, the weights."""

__all__ = ["PassNumbers", "find_whole_numbers", "read_pass"]


@dataclass
class PassNumbers:
    """What may change with sizes, in one pass."""

    numbers: dict[Key, int] = field(default_factory=dict)
    """Sizes of tensors, whole numbers among arguments, costs, and how often a call of a module makes a step."""
    rounds: list[str] = field(default_factory=list)
    """Ids in the graph of the nodes in loops that have another number of rounds in the pass."""
    uneven: set[str] = field(default_factory=set)
    """Those in a loop in which not all rounds are equal: they make other shapes, or cost more."""
    lost: list[str] = field(default_factory=list)
    """Ids of the graph's nodes that the pass lacks."""
    new: list[Node] = field(default_factory=list)
    """Nodes of the pass that the graph lacks."""

    @property
    def difference(self) -> tuple[list[str], list[str]]:
        """Which nodes only one of both has."""
        return self.lost, [node.id for node in self.new]


def read_pass(graph: Graph, other: Graph) -> PassNumbers:
    """Read a pass by the nodes of the graph.

    Args:
        graph: The graph that is shown.
        other: The pass, of the same model; or the graph itself.
    """
    mine, others = _list_steps(graph), _list_steps(other)
    calls = {step: len(nodes) for step, nodes in others.items()}
    found, paired = PassNumbers(), dict[str, "Node"]()
    for step, nodes in mine.items():
        again = others.pop(step, [])
        if not again:
            found.lost += [node.id for node in nodes]
            continue
        # in a loop with fewer rounds, the last one stands for those that it lacks
        paired.update((node.id, again[min(i, len(again) - 1)]) for i, node in enumerate(nodes))
        if len(again) != len(nodes):
            found.rounds += [node.id for node in nodes]
            if len({_look(node, graph) for node in nodes}) > 1 or len({_look(node, other) for node in again}) > 1:
                found.uneven.update(node.id for node in nodes)
        if isinstance(nodes[0], OpNode | ModuleNode):
            holder = graph.by_id.get(graph.hierarchy[nodes[0].id] or "")
            per_call, rest = divmod(len(again), calls.get(_step(holder, graph), 1) if holder else 1)
            found.numbers.update((("times", node.id), per_call) for node in nodes if not rest)
            if rest and holder and holder.id in found.rounds:  # some calls in a loop have it, such as the first
                found.uneven.update(node.id for node in nodes)
    found.new = [node for nodes in others.values() for node in nodes]
    rounds = {*found.rounds}
    for node in graph.nodes:
        if node.id in paired and node.id not in found.uneven:
            found.numbers.update(_read_node(node, paired[node.id], other, has_arguments=node.id not in rounds))
    return found


def find_whole_numbers(value: Any, path: str = "") -> Iterator[tuple[str, int]]:
    """Whole numbers in nested arguments, and their places: ``size[1]``."""
    if type(value) is int:
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from find_whole_numbers(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from find_whole_numbers(item, f"{path}[{i}]")


def _read_node(node: Node, again: Node, other: Graph, *, has_arguments: bool) -> Iterator[tuple[Key, int]]:
    """Numbers of a node; arguments may count the rounds of a loop."""
    names, names_again = (getattr(each, "outputs", ()) for each in (node, again))
    if not isinstance(names, tuple):
        return
    for tensor, tensor_again in zip(names, names_again, strict=False):
        for i, size in enumerate(other.tensors[tensor_again].shape or ()):
            if isinstance(size, int):
                yield ("tensors", tensor, str(i)), size
    if isinstance(again, OpNode):
        if has_arguments:
            yield from ((("arguments", node.id, path), n) for path, n in find_whole_numbers(again.arguments))
        for cost in ("flops", "activation_bytes"):
            if (number := getattr(again, cost)) is not None:
                yield (cost, node.id), number


def _list_steps(graph: Graph) -> dict[Step, list[Node]]:
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
