"""Names the sizes that a tensor's values decide (``nonzero``), and finds what follows from them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from modeldiagrams.ir.bounds import UPPER
from modeldiagrams.ir.expressions import Expression
from modeldiagrams.ir.graph import OpNode
from modeldiagrams.ir.sizes import Size
from modeldiagrams.resolve.dimensions.fitting import Fitter
from modeldiagrams.resolve.dimensions.pass_numbers import find_whole_numbers
from modeldiagrams.resolve.dimensions.size_fits import BY_VALUES, Fits
from modeldiagrams.resolve.dimensions.sized_passes import MASKS

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from typing import TypeAlias

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.resolve.dimensions.pass_numbers import Key, PassNumbers
    from modeldiagrams.resolve.dimensions.size_fits import SizeFits

    Point: TypeAlias = tuple[Mapping[str, int], PassNumbers]
    """Sizes and numbers of a pass."""

__all__ = ["name_counted"]

_COUNTING = UPPER | {"once each"}
"""What is assumed of the ops that count."""
_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def name_counted(graph: Graph, fits: SizeFits, points: Sequence[Point], others: Sequence[Point]) -> dict[str, Size]:
    """Name what values decide; `fits` gets the expressions, which are right in all passes.

    Args:
        graph: The graph that is shown.
        fits: Expressions of sizes of the inputs.
        points: Passes that assume the most, the shown one first.
        others: Passes that assume other sizes, of which no two are equal.
    """
    return _Counted(graph, fits, points, others).name_all()


class _Counted(Fits):
    def __init__(self, graph: Graph, fits: SizeFits, points: Sequence[Point], others: Sequence[Point]) -> None:
        super().__init__(graph, [*points, *others])
        self.found, self._points, self._n_most = fits, [sizes for sizes, _ in (*points, *others)], len(points)
        self._guesses: dict[str | None, list[object]] = {}
        for guess in graph.status.guesses:
            self._guesses.setdefault(guess.node, []).append(guess.value)
        self._above: dict[str, set[str]] = {node.id: set() for node in graph.nodes}
        """Id of a node → the names that it may depend on."""
        self._repeated = {node for _, each in points for node in each.rounds}
        self._sizes: dict[str, Size] = {}
        self._values: dict[str, tuple[int, ...]] = {}

    def name_all(self) -> dict[str, Size]:
        """Name what ops count, in the order in which they ran."""
        for node in self._graph.nodes:  # edges run forward
            is_sought = any(self.found.unknown.get(tensor) == BY_VALUES for tensor in getattr(node, "outputs", ()))
            if is_sought and isinstance(node, OpNode) and node.id not in self._repeated:
                self._name_op(node)
            for edge in self._graph.adjacency.get(node.id, ()):
                self._above[edge.to] |= self._above[node.id]
        return self._sizes

    def _name_op(self, op: OpNode) -> None:
        unknown, is_known = self.found.unknown, True
        for tensor in op.outputs:
            dims = [self._express(("tensors", tensor, str(i)), op) for i in range(len(self._shape_of(tensor)))]
            if all(dims) and unknown.get(tensor) == BY_VALUES:
                del unknown[tensor]
            is_known &= tensor not in unknown
        costs: list[Key] = [(cost, op.id) for cost in ("flops", "activation_bytes") if getattr(op, cost) is not None]
        places: list[Key] = [("arguments", op.id, path) for path, _ in find_whole_numbers(op.arguments)]
        numbers = [self._express(key, op) for key in (*costs, *places)]
        if is_known and all(numbers) and unknown.get(op.id) == BY_VALUES:
            del unknown[op.id]

    def _shape_of(self, tensor: str) -> tuple[object, ...]:
        return self._graph.tensors[tensor].shape or ()

    def _express(self, key: Key, op: OpNode) -> bool:
        """Find the expression of a number; return whether it is known."""
        values = self._numbers.get(key)
        if values is None or key in self.found.expressions or len(set(values)) == 1:
            return values is not None
        found = self._fitter.fit(values) or self._find_multiple(values, self._above[op.id])
        found = found or self._fit_other(key[0], values, op)
        alike = Counter(self._values[name] for name in self._above[op.id])
        if found is not None and any(alike[self._values[name]] > 1 for name in found.names & self._values.keys()):
            found = None
        if found is None and key[0] == "tensors":
            found = self._count(values, op)
        if found is None or any(c.denominator > 1 for _, c in found.terms):
            return False
        self.found.expressions[key] = found
        return True

    def _fit_other(self, kind: str, values: tuple[int, ...], op: OpNode) -> Expression | None:
        """From the sizes of the op's own tensors."""
        if kind == "arguments":
            return self._fit_to_sizes(values, op)
        return self._fit_to_inputs(values, op) if kind == "tensors" else self._fit_cost(values, op)

    def _find_multiple(self, values: tuple[int, ...], names: Container[str]) -> Expression | None:
        """A name times a whole number or sizes of the inputs, if there is only one that fits."""
        found = []
        for name, numbers in self._values.items():
            if name in names and all(numbers) and not any(a % b for a, b in zip(values, numbers, strict=True)):
                factor = self._fitter.fit(tuple(a // b for a, b in zip(values, numbers, strict=True)))
                found += [] if factor is None else [factor * Expression.name(name)]
        return found[0] if len(found) == 1 else None

    def _count(self, values: tuple[int, ...], op: OpNode) -> Expression | None:
        """The name of what an op counts; that of another op if both count elements of one mask."""
        guesses = self._guesses.get(op.id, [])
        if not guesses or any(guess not in _COUNTING for guess in guesses):
            return None
        for name, numbers in self._values.items():
            other = self._sizes[name].counted
            if numbers == values and (op.id == other or self._masks(op.id) & self._masks(other)):
                self._above[op.id].add(name)
                return Expression.name(name)
        if any(size.counted == op.id for size in self._sizes.values()):
            return None
        name = "n" + str(len(self._sizes) + 1).translate(_DIGITS)
        bound = Fitter(self._points[: self._n_most]).fit(values[: self._n_most]) if UPPER.issuperset(guesses) else None
        is_bound = bound is not None and all(
            bound.evaluate(sizes) >= n for sizes, n in zip(self._points, values, strict=True)
        )
        self._sizes[name] = Size(size=values[0], counted=op.id, bound=str(bound) if is_bound else "")
        self._values[name] = values
        self._above[op.id].add(name)
        return Expression.name(name)

    def _masks(self, op: str) -> set[str]:
        return {tensor for tensor in self._inputs.get(op, ()) if self._graph.tensors[tensor].dtype in MASKS}
