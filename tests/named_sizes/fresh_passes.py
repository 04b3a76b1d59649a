"""Compares what a graph says of other sizes with graphs that were traced at them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import modeldiagrams
from modeldiagrams.ir.graph import Graph, OpNode
from named_sizes.arithmetic import names_in, value


@dataclass
class Comparison:
    """What is not as the graph says, and how much can vary."""

    wrong: list[str] = field(default_factory=list)
    """Expressions that give another number."""
    silent: list[str] = field(default_factory=list)
    """Numbers that change, and nothing says so."""
    unknown: int = 0
    """Dimensions that change, are listed as unknown, and are no failure."""
    texts: int = 0
    """Texts among arguments that change, as of slices: expressions are for numbers only."""
    compared: int = 0


def numbers_of(arguments: Any, path: str = "") -> Iterator[tuple[str, int | float]]:
    """The numbers among an op's arguments and their places: ``size[1]``."""
    if isinstance(arguments, int | float) and not isinstance(arguments, bool):
        yield path, arguments
    elif isinstance(arguments, list | tuple):
        for i, part in enumerate(arguments):
            yield from numbers_of(part, f"{path}[{i}]")
    elif isinstance(arguments, Mapping):
        for key, part in arguments.items():
            yield from numbers_of(part, f"{path}.{key}" if path else str(key))


def texts_of(arguments: Any) -> Iterator[str]:
    """The texts among an op's arguments: slices, modes, equations."""
    parts = arguments.values() if isinstance(arguments, Mapping) else arguments
    for part in parts if isinstance(parts, Iterable) else ():
        if isinstance(part, str):
            yield part
        else:
            yield from texts_of(part)


def groups_of(graph: Graph) -> dict[tuple[Any, ...], list[Any]]:
    """The nodes of a graph, those together that the same line of the same module makes: turns of a loop among them."""
    found = defaultdict(list)
    for node in graph.nodes:
        parent = (graph.hierarchy[node.id] or "").split("#")[0]
        name = getattr(node, "path", None) or getattr(node, "name", None)
        found[node.kind, parent, name, getattr(node, "source", node.id)].append(node)
    return found


class FreshPass:
    """A graph with names against one that was traced at other sizes."""

    def __init__(self, graph: Graph, fresh: Graph, sizes: Mapping[str, int]) -> None:
        assert graph.sizes is not None
        self._graph, self._fresh, self._named = graph, fresh, graph.sizes
        self._here, self._there = groups_of(graph), groups_of(fresh)
        pairs = [(a, b) for key, group in self._here.items() for a, b in zip(group, self._there.get(key, ()))]  # noqa: B905
        self._other = {a.id: b for a, b in pairs}
        """Id of a node → the one that is this step in the fresh pass: ids shift where a loop runs more often."""
        self._tensors = {
            tensor: other
            for a, b in pairs
            for tensor, other in zip(getattr(a, "outputs", ()), getattr(b, "outputs", ()))  # noqa: B905
            if a.kind != "module"
        }
        self._sizes = {**sizes, **self._counted_values()}
        self._makers = {tensor: node.id for node in graph.nodes for tensor in getattr(node, "outputs", ())}
        self.found = Comparison()

    def compare(self) -> Comparison:
        """Compare everything."""
        self._compare_counts()
        for tensor, spec in self._graph.tensors.items():
            if tensor in self._tensors:
                self._compare_shape(tensor, spec.shape, self._fresh.tensors[self._tensors[tensor]].shape)
        for node in self._graph.nodes:
            if isinstance(node, OpNode) and isinstance(other := self._other.get(node.id), OpNode):
                self._compare_arguments(node, other)
                for cost in ("flops", "activation_bytes"):
                    expression = getattr(self._named, cost).get(node.id)
                    self._compare(f"{node.id} {cost}", expression, getattr(node, cost), getattr(other, cost), node.id)
        self._compare_bounds()
        self._compare_table()
        for cost in ("flops", "activation_bytes"):
            self._compare_total(cost)
        return self.found

    def _counted_values(self) -> dict[str, int]:
        """The sizes that values decide, as they came out in the fresh pass."""
        found: dict[str, int] = {}
        for tensor, parts in self._named.tensors.items():
            for i, part in enumerate(parts):
                is_counted = part in self._named.sizes and self._named.sizes[part].counted
                if is_counted and tensor in self._tensors:
                    found.setdefault(str(part), self._fresh.tensors[self._tensors[tensor]].shape[i])
        return found

    def _is_unknown(self, *ids: str | None) -> bool:
        return any(i in self._named.unknown for i in ids if i is not None)

    def _is_unknown_around(self, graph: Graph, node: Any) -> bool:
        """Whether a call around it, or the model, does steps at other sizes of which the graph knows no costs."""
        around = graph.hierarchy[node.id]
        while around is not None:
            if self._is_unknown(around):
                return True
            around = graph.hierarchy[around]
        return False

    def _compare_counts(self) -> None:
        """Every step is there as often as its loops say."""
        for key in {**self._here, **self._there}:
            here, there = self._here.get(key, []), self._there.get(key, [])
            try:
                expected = sum(self._turns(node.id) for node in here)
            except KeyError:
                continue  # reported elsewhere
            is_unknown = self._is_unknown(*(node.id for node in here)) or (
                not here and self._is_unknown_around(self._fresh, there[0])
            )
            if expected != len(there) and not is_unknown:
                is_loop = any(self._loops_around(node.id) for node in here)
                text = (
                    f"{(here or there)[0].id}: {len(here)} such steps; {expected} by the graph, and {len(there)} there"
                )
                (self.found.wrong if is_loop else self.found.silent).append(text)

    def _turns(self, node: str) -> Fraction:
        """How often a node is there for each time that it is in the graph."""
        own = {name: size.size for name, size in self._named.sizes.items()}
        loops = self._loops_around(node)
        return math.prod((value(loop, self._sizes) / value(loop, own) for loop in loops), start=Fraction(1))

    def _compare(self, what: str, expression: str | None, here: Any, there: Any, *ids: str) -> None:
        self.found.compared += 1
        if expression is not None:
            try:
                given: Any = value(expression, self._sizes)
            except KeyError as error:
                given = f"no value, because {error} has none"
            if given != there:
                shown = ", ".join(f"{n} = {self._sizes.get(n)}" for n in sorted(names_in(expression)))
                self.found.wrong.append(f"{what}: {expression} is {given} at {shown}; the pass has {there}")
        elif here != there:
            if self._is_unknown(*ids):
                self.found.unknown += 1
            else:
                self.found.silent.append(f"{what}: {here} has no expression; the pass has {there}")

    def _compare_shape(self, tensor: str, here: tuple[int, ...], there: tuple[int, ...]) -> None:
        if len(here) != len(there):
            self.found.silent.append(f"{tensor} has {len(here)} dimensions, and {len(there)} at these sizes")
            return
        expressions = self._named.tensors.get(tensor) or (None,) * len(here)
        for i, (expression, a, b) in enumerate(zip(expressions, here, there, strict=True)):
            self._compare(f"{tensor} dim {i}", expression, a, b, tensor, self._makers.get(tensor, ""))

    def _compare_arguments(self, node: OpNode, other: OpNode) -> None:
        self.found.texts += [*texts_of(node.arguments)] != [*texts_of(other.arguments)]
        here, there = dict(numbers_of(node.arguments)), dict(numbers_of(other.arguments))
        expressions = self._named.arguments.get(node.id, {})
        for path in {**here, **expressions}:
            if path not in there:
                self.found.silent.append(f"{node.id} argument {path}: not among {sorted(there)} at these sizes")
            else:
                what = f"{node.id} argument {path}"
                self._compare(what, expressions.get(path), here.get(path), there[path], node.id)

    def _compare_bounds(self) -> None:
        for name, size in self._named.sizes.items():
            if size.bound and name in self._sizes and value(size.bound, self._sizes) < self._sizes[name]:
                self.found.wrong.append(f"{name} is {self._sizes[name]}, above its bound {size.bound}")

    def _compare_table(self) -> None:
        """What readers get: a sum without a sign is right to the byte and the FLOP, and `≤` is above."""
        given = {name: n for name, n in self._sizes.items() if not self._named.sizes[name].fixed}
        try:
            row = modeldiagrams.cost(self._graph, given, depth=1).rows[0]
        except modeldiagrams.ModelDiagramsError as error:
            self.found.wrong.append(f"no costs at {given}: {error}")
            return
        for cost in ("flops", "activation_bytes"):
            ours, sign, there = row[cost] or 0, row[f"{cost}_sign"], getattr(self._fresh.model, cost) or 0
            self.found.compared += 1
            if not {"": ours == there, "≤": ours >= there, "≥": ours <= there}.get(sign, True):
                self.found.wrong.append(f"{cost} in the table of costs: {sign}{ours}; the pass has {there}")

    def _loops_around(self, node: str) -> list[str]:
        """How often the loops around a node run: their expressions."""
        around, at = [], node
        while at is not None:
            around += [self._named.times[at]] if at in self._named.times else []
            at = self._graph.hierarchy[at]
        return around

    def _compare_total(self, cost: str) -> None:
        """Costs of the whole model are the sum of those of its ops, each as often as its loops run."""
        if not self._named.unknown.keys().isdisjoint(node.id for node in self._graph.nodes if node.kind == "module"):
            return
        total: Fraction | int = 0
        for node in self._graph.nodes:
            if not isinstance(node, OpNode):
                continue
            if self._is_unknown(node.id, *node.outputs):
                return
            expression = getattr(self._named, cost).get(node.id)
            try:
                own = (getattr(node, cost) or 0) if expression is None else value(expression, self._sizes)
                total += own * self._turns(node.id)
            except KeyError:
                return  # reported for the op
        if total != (there := getattr(self._fresh.model, cost) or 0):
            self.found.wrong.append(f"{cost} of the model: {total} by its ops' expressions; the pass has {there}")
