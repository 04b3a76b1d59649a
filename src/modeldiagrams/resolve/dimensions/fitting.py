"""Fits expressions to what was seen at several sizes."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING, TypeAlias

from modeldiagrams.ir.expressions import Expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from modeldiagrams.ir.expressions import Monomial

    Values: TypeAlias = tuple[int | Fraction, ...]
    """One for each point."""

__all__ = ["SMALL", "Fitter"]

SMALL = 4
"""Sizes up to this are numbers of things, such as a batch."""

_MOST_TERMS = 3
_HIGHEST_DEGREE = 3
_HIGHEST_POWER = 2
_MOST_WRITTEN = 1.25
"""How many bits of coefficients explain one bit of values: more explain anything."""
_MOST_MONOMIALS = 40
"""More than that for pairs and triples would take long."""


class Fitter:
    """Finds the simplest polynomial with rational coefficients that gives the values at all points."""

    def __init__(self, points: Sequence[Mapping[str, int]]) -> None:
        """Prepare the monomials.

        Args:
            points: The sizes of each pass.
        """
        self.points = points
        self._most_terms = min(_MOST_TERMS, len(points) - 1)  # of the points, one is a check
        self._found: dict[Values, Expression | None] = {}
        names = [name for name in points[0] if len({point[name] for point in points}) > 1]
        self._columns = {name: [point[name] for point in points] for name in names}
        self._monomials: dict[Monomial, Values] = {(): (1,) * len(points)}
        for degree in range(1, _HIGHEST_DEGREE + 1):
            for factors in combinations_with_replacement(names, degree):
                powers = Counter(factors)
                if max(powers.values()) <= _HIGHEST_POWER:
                    column = tuple(math.prod(point[name] for name in factors) for point in points)
                    self._monomials[tuple(sorted(powers.items()))] = column

    def fit(self, values: Values) -> Expression | None:
        """The expression for these values; None if there is no simple one."""
        if values not in self._found:
            self._found[values] = self._fit(values)
        return self._found[values]

    def _fit(self, values: Values, *, is_part: bool = False) -> Expression | None:
        if len(set(values)) == 1:
            return Expression.constant(values[0])
        for terms in range(1, self._most_terms + 1):
            solutions = [*self._solutions(values, terms)]
            if solutions:
                return min(solutions, key=_cost)
        for name, column in () if is_part else self._columns.items():  # several terms of a batch
            part = self._fit(tuple(Fraction(v) / n for v, n in zip(values, column, strict=True)), is_part=True)
            if part is not None and len(part.terms) > 1:
                found = part * Expression.name(name)
                if _is_simple(found, values) and self._has_whole_batch(found):
                    return found
        return None

    def _solutions(self, values: Values, terms: int) -> Iterator[Expression]:
        monomials = [*self._monomials.items()]
        if terms == _MOST_TERMS:
            monomials = [(m, column) for m, column in monomials if sum(power for _, power in m) < _HIGHEST_DEGREE]
        for chosen in combinations(monomials[: _MOST_MONOMIALS if terms > 1 else None], terms):
            solution = _solve([column for _, column in chosen], values)
            if solution is not None and all(solution):
                expression = Expression(())
                for (monomial, _), coefficient in zip(chosen, solution, strict=True):
                    expression += Expression(((monomial, coefficient),))
                if _is_simple(expression, values) and self._has_whole_batch(expression):
                    yield expression

    def _has_whole_batch(self, expression: Expression) -> bool:
        """Whether nothing divides small sizes alone: a third of a batch means nothing."""
        return all(
            c.denominator == 1 or not monomial or any(self.points[0][name] > SMALL for name, _ in monomial)
            for monomial, c in expression.terms
        )


def _solve(columns: Sequence[Values], values: Values) -> list[Fraction] | None:
    """The coefficients with which columns add up to the values; None if there are none, or several."""
    n = len(columns)
    rows = [[*row, value] for *row, value in zip(*columns, values, strict=True)]
    for i in range(n):  # without fractions, as there are many to solve
        at = next((at for at in range(i, len(rows)) if rows[at][i]), None)
        if at is None:
            return None
        rows[i], rows[at] = rows[at], rows[i]
        pivot = rows[i]
        for row in (row for j, row in enumerate(rows) if j != i and row[i]):
            factor = row[i]
            row[:] = [pivot[i] * x - factor * y for x, y in zip(row, pivot, strict=True)]
        if i == n - 1 and any(row[n] for row in rows[n:]):
            return None
    return [Fraction(row[n]) / row[i] for i, row in enumerate(rows[:n])]


def _is_simple(expression: Expression, values: Values) -> bool:
    """Whether the numbers in an expression say less than the values that it stands for."""
    common = math.lcm(*(c.denominator for _, c in expression.terms))
    written = sum(math.log2(abs(float(c) * common) + 1) for _, c in expression.terms) + math.log2(common)
    said = sum(math.log2(abs(float(value)) + 1) for value in values)
    return len(expression.terms) == 1 or written <= _MOST_WRITTEN * said


def _cost(expression: Expression) -> float:
    """How little one likes to read it."""
    total = 0.0
    for monomial, c in expression.terms:
        total += 2 + 2 * sum(power for _, power in monomial) + (c.denominator > 1)
        total += math.log2(abs(c.numerator) * c.denominator) / 4
        total += 1.5 * (c.denominator & (c.denominator - 1) != 0) + 2 * (not monomial and c.denominator > 1)
    return total
