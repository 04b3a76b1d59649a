"""Expressions for all that changes in a graph with the sizes of its inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.ir.expressions import Expression
from modeldiagrams.ir.graph import ModuleNode, OpNode
from modeldiagrams.resolve.dimensions.fitting import Fitter
from modeldiagrams.resolve.dimensions.pass_numbers import find_whole_numbers

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.resolve.dimensions.pass_numbers import Key, PassNumbers

__all__ = ["BY_VALUES", "Fits", "SizeFits", "fit_sizes"]

BY_VALUES = "depends on values"
_NOT_SIMPLE = "no simple expression"
_SPECIAL = "the traced pass makes this call less or more often than all others"
_ONE = Expression.constant(1)


@dataclass
class SizeFits:
    """What was found."""

    numbers: dict[Key, int] = field(default_factory=dict)
    """Those of the graph, which may change."""
    expressions: dict[Key, Expression] = field(default_factory=dict)
    """Of numbers that change."""
    unknown: dict[str, str] = field(default_factory=dict)
    """As in `NamedSizes`."""
    has_unknown_loops: bool = False
    """Whether numbers of rounds change in no simple way."""

    def lacks_some(self) -> bool:
        """Whether sizes or costs change in no simple way."""
        return any(why.startswith(_NOT_SIMPLE) for why in self.unknown.values())

    def find_wrong(self, numbers: Mapping[Key, int], sizes: Mapping[str, int]) -> list[Key]:
        """The keys of expressions, and of numbers that should be the same, which a pass has other numbers for."""
        values = dict[Expression, Fraction]()
        for expression in self.expressions.values():
            if expression not in values:
                values[expression] = expression.evaluate(sizes)
        wrong = [key for key, expression in self.expressions.items() if numbers.get(key) != values[expression]]
        return wrong + [
            key
            for key, number in self.numbers.items()
            # in loops with more rounds, arguments differ from round to round
            if key not in self.expressions
            and key[1] not in self.unknown
            and numbers.get(key, number if key[0] == "arguments" else None) != number
        ]

    def drop(self, keys: Sequence[Key]) -> None:
        """Leave out what is wrong."""
        for key in keys:
            self.expressions.pop(key, None)
            self.unknown[key[1]] = "changes in another way at other sizes"


def fit_sizes(
    graph: Graph, passes: Sequence[tuple[Mapping[str, int], PassNumbers]], by_values: Container[str] = ()
) -> SizeFits:
    """Fit expressions.

    Args:
        graph: The graph that is shown.
        passes: Sizes and numbers of each pass, the shown one first.
        by_values: Ids of tensors and ops about which values decide.
    """
    return Fits(graph, passes, by_values).run()


class Fits:
    """Fits what is known of the sizes of the inputs, and of each op's tensors."""

    def __init__(
        self, graph: Graph, passes: Sequence[tuple[Mapping[str, int], PassNumbers]], by_values: Container[str] = ()
    ) -> None:
        """Read the passes; parameters are those of `fit_sizes`."""
        numbers = [each.numbers for _, each in passes]
        self._graph, self._by_values, self.found = graph, by_values, SizeFits(numbers[0])
        self._fitter = Fitter([sizes for sizes, _ in passes])
        self._numbers = {
            key: tuple(each[key] for each in numbers) for key in numbers[0] if all(key in each for each in numbers)
        }
        self._lost = {key[1] for key in numbers[0] if key not in self._numbers and key[0] != "arguments"}
        self._uneven = frozenset[str]().union(*(each.uneven for _, each in passes))
        self._costs: dict[Any, Expression | None] = {}
        self._products: dict[Any, Expression] = {}
        self._inputs: dict[str, list[str]] = {}
        for edges in graph.adjacency.values():
            for edge in edges:
                self._inputs.setdefault(edge.to, []).append(edge.tensor)

    def run(self) -> SizeFits:
        """Fit everything."""
        graph, unknown = self._graph, self.found.unknown
        for name in sorted(self._lost):
            is_uneven = name in self._uneven or name.rpartition(":")[0] in self._uneven
            unknown[name] = "differs from round to round of its loop" if is_uneven else "not there at other sizes"
        special = dict.fromkeys(self._list_special(), _SPECIAL)
        unknown.update(special)
        self._numbers = {key: values for key, values in self._numbers.items() if key[1] not in special}
        made = {tensor: node for node in graph.nodes if isinstance(node, OpNode) for tensor in node.outputs}
        for tensor in graph.tensors:
            if tensor in self._by_values:
                unknown[tensor] = BY_VALUES
            else:
                self._fit_tensor(tensor, made.get(tensor))
        for node in graph.nodes:
            if isinstance(node, OpNode | ModuleNode):
                self._fit_times(node.id)
            if isinstance(node, OpNode):
                if any(name in self._by_values for name in (node.id, *node.outputs)):
                    unknown[node.id] = BY_VALUES
                else:
                    self._fit_op(node)
        return self.found

    def _list_special(self) -> Iterator[str]:
        """Ids of ops, of their tensors, and of module calls that only the traced pass makes so often."""
        for node in self._graph.nodes:
            first, *others = self._numbers.get(("times", node.id), (0,))
            if len(others) > 1 and len(set(others)) == 1 and first != others[0]:
                yield from (node.id, *(node.outputs if isinstance(node, OpNode) else ()))

    def _fit_times(self, name: str) -> None:
        key = ("times", name)
        values = self._numbers.get(key, ())
        if len(set(values)) > 1:
            self._keep(key, self._fitter.fit(values), values)

    def _fit_tensor(self, tensor: str, op: OpNode | None) -> None:
        for i in range(len(self._graph.tensors[tensor].shape or ())):
            key = ("tensors", tensor, str(i))
            values = self._numbers.get(key)
            if values is None or len(set(values)) == 1:
                continue
            found = self._fitter.fit(values) or (self._fit_to_inputs(values, op) if op else None)
            self._keep(key, found, values)

    def _fit_op(self, op: OpNode) -> None:
        numbers = self._numbers
        for path, _ in find_whole_numbers(op.arguments):
            key: Key = ("arguments", op.id, path)
            if key in numbers and len(set(numbers[key])) > 1:
                self._keep(key, self._fitter.fit(numbers[key]) or self._fit_to_sizes(numbers[key], op), numbers[key])
        for cost in ("flops", "activation_bytes"):
            values = numbers.get((cost, op.id))
            if values is not None and not values[0] and any(values):  # such as a copy that one item doesn't need
                self.found.unknown[op.id] = f"costs nothing in the traced pass alone: {', '.join(map(str, values))}"
            elif values is not None and len(set(values)) > 1:
                self._keep((cost, op.id), self._fit_cost(values, op), values)

    def _keep(self, key: Key, found: Expression | None, values: Sequence[int]) -> None:
        if found is None:
            self.found.has_unknown_loops |= key[0] == "times"
            self.found.unknown.setdefault(key[1], f"{_NOT_SIMPLE}: {', '.join(map(str, values))}")
        else:
            self.found.expressions[key] = found

    def _shape(self, tensor: str) -> list[tuple[tuple[int, ...], Expression | None]]:
        """Sizes at all points, and expression, of each dimension; None if it has none."""
        shape = []
        for i in range(len(self._graph.tensors[tensor].shape or ())):
            key = ("tensors", tensor, str(i))
            values = self._numbers.get(key)
            if values is None:
                return []
            constant = Expression.constant(values[0]) if len(set(values)) == 1 else None
            shape.append((values, constant or self.found.expressions.get(key)))
        return shape

    def _fit_to_sizes(self, values: tuple[int, ...], op: OpNode) -> Expression | None:
        """A size among the op's outputs or inputs: an argument such as ``size``."""
        every = (size for tensor in (*op.outputs, *self._inputs.get(op.id, ())) for size in self._shape(tensor))
        return next((expression for sizes, expression in every if sizes == values), None)

    def _fit_to_inputs(self, values: tuple[int, ...], op: OpNode) -> Expression | None:
        """A product of neighbouring sizes of an input (flatten, reshape), or a sum of sizes of all (cat)."""
        shapes = [self._shape(tensor) for tensor in self._inputs.get(op.id, ())]
        for shape in shapes:
            for start in range(len(shape)):
                for end in range(start + 1, len(shape) + 1):
                    if (found := self._scaled(values, shape[start:end])) is not None:
                        return found
        if len({len(shape) for shape in shapes}) == 1:
            for sizes in zip(*shapes, strict=True):
                totals = tuple(map(sum, zip(*(numbers for numbers, _ in sizes), strict=True)))
                expressions = [expression for _, expression in sizes if expression is not None]
                if totals == values and len(expressions) == len(sizes):
                    return sum(expressions, Expression(()))
        return None

    def _scaled(
        self, values: Sequence[int], shape: Sequence[tuple[tuple[int, ...], Expression | None]], *, fits: bool = False
    ) -> Expression | None:
        """The product of the sizes times a number, or times an expression if it `fits`."""
        expressions = [expression for _, expression in shape if expression is not None]
        products = [math.prod(numbers) for numbers in zip(*(numbers for numbers, _ in shape), strict=True)] or [
            1
        ] * len(values)
        if len(expressions) < len(shape) or not all(products):
            return None
        ratios = tuple(Fraction(value, product) for value, product in zip(values, products, strict=True))
        factor = Expression.constant(ratios[0]) if len(set(ratios)) == 1 else self._fitter.fit(ratios) if fits else None
        if factor is None:
            return None
        key = tuple(expressions)
        if key not in self._products:
            self._products[key] = reduce(Expression.__mul__, expressions, _ONE)
        return self._products[key] * factor

    def _fit_cost(self, values: tuple[int, ...], op: OpNode) -> Expression | None:
        shapes = [self._shape(tensor) for tensor in (*op.outputs, *self._inputs.get(op.id, ()))]
        key = values, tuple(tuple(numbers for numbers, _ in shape) for shape in shapes)
        if key not in self._costs:
            found = (self._scaled(values, shape, fits=fits) for fits in (False, True) for shape in shapes)
            first = next((each for each in found if each is not None), None)
            self._costs[key] = first or self._fitter.fit(values) or self._fit_to_outputs(values, op)
        return self._costs[key]

    def _fit_to_outputs(self, values: tuple[int, ...], op: OpNode) -> Expression | None:
        """The bytes of several outputs."""
        total, expression = [0] * len(values), Expression(())
        for tensor in op.outputs:
            shape, width = self._shape(tensor), getattr(torch, self._graph.tensors[tensor].dtype).itemsize
            found = self._scaled([math.prod(numbers) for numbers in zip(*(n for n, _ in shape), strict=True)], shape)
            if found is None:
                return None
            expression += found * width
            total = [n + math.prod(each) * width for n, *each in zip(total, *(n for n, _ in shape), strict=True)]
        return expression if tuple(total) == values else None
