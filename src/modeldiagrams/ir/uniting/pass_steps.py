"""The steps of several passes as one tree: which step of one pass is which of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldiagrams.ir.nodes import FunctionCall, InputNode, ModuleNode, Node, OpNode, OutputNode
from modeldiagrams.ir.uniting.alignment import align
from modeldiagrams.ir.weights import is_weight

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modeldiagrams.ir.graph import Graph

__all__ = ["UnitedStep", "merge_passes"]


class UnitedStep:
    """A call or op of some passes, and the steps inside it."""

    __slots__ = ("around", "found", "id", "inside", "key", "passes")

    def __init__(self, key: tuple[Any, ...] = ()) -> None:
        self.id = ""
        """Its id in the union."""
        self.key = key
        """Equal for what may be the same step: the code that makes it, without numbers, which shift."""
        self.found: dict[int, Node | FunctionCall] = {}
        """Number of a pass → the step there."""
        self.passes: set[int] = set()
        """Numbers of passes that have it; also of those that only have what is inside a function call."""
        self.around: UnitedStep | None = None
        self.inside: list[UnitedStep] = []

    def walk(self) -> Iterator[UnitedStep]:
        """All steps inside, outer ones first."""
        todo = self.inside[::-1]
        while todo:
            step = todo.pop()
            yield step
            todo += step.inside[::-1]


def merge_passes(passes: Sequence[Graph], order: Sequence[int]) -> UnitedStep:
    """Merge the steps of passes; what they share is in the result once.

    Inputs, outputs and weights are no steps.

    Args:
        passes: The passes.
        order: Their numbers in an order that doesn't depend on how they were given: it decides what is found equal, and
            which steps come first where no pass has both.

    Returns:
        The root, which stands for the call of the model.
    """
    root, *others = (_make_tree(passes[i], i) for i in order)
    for other in others:
        _merge(root, other)
    for step in (root, *root.walk()):
        for inner in step.inside:
            inner.around = step
    return root


def _make_tree(graph: Graph, number: int) -> UnitedStep:
    root = UnitedStep()
    holders: dict[str | None, UnitedStep] = {None: root}

    def add(holder: UnitedStep, key: tuple[Any, ...], found: Node | FunctionCall) -> UnitedStep:
        step = UnitedStep(key)
        step.found[number] = found
        step.passes.add(number)
        holder.inside.append(step)
        return step

    def find_holder(name: str | None) -> UnitedStep:
        if name not in holders:  # a function call that begins here
            call = graph.functions[name]  # type: ignore[index]
            key = ("function", call.function or call.name, call.call_site)
            holders[name] = add(find_holder(call.parent), key, call)
        return holders[name]

    for node in graph.nodes:
        if isinstance(node, InputNode | OutputNode) or is_weight(node):
            continue
        step = add(find_holder(node.scope or graph.hierarchy[node.id]), _key(node, graph), node)
        if isinstance(node, ModuleNode):
            holders[node.id] = step
    return root


def _key(node: Node, graph: Graph) -> tuple[Any, ...]:
    if isinstance(node, ModuleNode):
        return ("module", node.path, node.class_)
    if isinstance(node, OpNode):
        around = graph.hierarchy[node.id]
        module = graph.by_id[around] if around is not None else None
        # inside modules of PyTorch, the line is that of the call of the module, or of one around it
        is_inside = isinstance(module, ModuleNode) and module.class_.startswith("torch.")
        return ("op", node.name, None if is_inside else node.source, *sorted(node.weights.values()))
    # a constant without a name is known by its first reader
    reader = next((by for edge in graph.adjacency.get(node.id, ()) for by in [graph.by_id[edge.to]]), None)
    return ("constant", getattr(reader, "name", None), getattr(reader, "source", None))


def _merge(into: UnitedStep, other: UnitedStep) -> None:
    """Merge a tree into another one, which it leaves in pieces."""
    todo = [(into, other)]
    while todo:
        into, other = todo.pop()
        into.found.update(other.found)
        into.passes |= other.passes
        a, b = into.inside, other.inside
        if not a or not b:
            into.inside = a or b
            continue
        merged: list[UnitedStep] = []
        at = [0, 0]
        for i, j in [*_pair(a, b), (len(a), len(b))]:
            merged += [*_nest(a[at[0] : i], b[at[1] : j], todo), *a[i : i + 1]]
            todo += zip(a[i : i + 1], b[j : j + 1], strict=True)
            at = [i + 1, j + 1]
        into.inside = merged


def _pair(a: list[UnitedStep], b: list[UnitedStep]) -> list[tuple[int, int]]:
    return align([step.key for step in a], [step.key for step in b])


def _nest(
    a: list[UnitedStep], b: list[UnitedStep], todo: list[tuple[UnitedStep, UnitedStep]], *, is_last: bool = False
) -> list[UnitedStep]:
    """Put steps into function calls that only the other passes show: those with few ops are not shown."""
    nested: list[UnitedStep] = []
    start = 0
    for k, call in enumerate(a):
        if call.key[0] == "function" and b and (pairs := _pair(call.inside, b)):
            first, last = pairs[0][1], pairs[-1][1]
            nested += [*_nest(b[:first], a[start:k], todo, is_last=True), call]
            content = UnitedStep()
            content.inside = b[first : last + 1]
            content.passes = {number for step in content.inside for number in step.passes}
            todo.append((call, content))
            start, b = k + 1, b[last + 1 :]
    rest = a[start:]
    return [*nested, *([*b, *rest] if is_last else _nest(b, rest, todo, is_last=True))]
