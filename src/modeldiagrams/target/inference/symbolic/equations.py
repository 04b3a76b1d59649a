"""Sizes that are sums, multiples and products of others; what follows from them is told at the end of a reading."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from modeldiagrams.target.inference.symbolic.shapes import ClashError, Dim, factors_of, same

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Equations"]

_MOST_FACTORS = 8
"""More are no shape: ``for _ in range(40): n = n * n``."""

_SIDES = 2

_Terms = dict[Dim, Fraction]


@dataclass
class Equations:
    """Dimensions that are sums and multiples of others."""

    _rows: list[tuple[dict[Dim, int], int]] = field(default_factory=list)
    _products: list[tuple[Dim, list[Dim]]] = field(default_factory=list)

    def add(self, whole: Dim, parts: dict[Dim, int], more: int = 0) -> None:
        """A dimension is the sum of others, each so many times, and of a number."""
        terms = {whole: -1}
        for part, times in parts.items():
            terms[part] = terms.get(part, 0) + times
        self._rows.append((terms, -more))

    def product(self, dims: Iterable[Dim]) -> Dim:
        """As many items as all these dimensions have."""
        ends = [part for dim in dims for part in factors_of(dim)]
        unknown = [dim for dim in ends if not dim.value]
        times = math.prod(dim.value for dim in ends if dim.value)
        if not unknown:
            return Dim(times)
        if times == len(unknown) == 1:
            return unknown[0]
        whole = Dim(factors=tuple(ends) if 1 < len(unknown) <= _MOST_FACTORS else ())
        if len(unknown) == 1:
            self.add(whole, {unknown[0]: times})
        else:
            self._products.append((whole, ends))
        return whole

    def solve(self) -> list[ClashError]:
        """Give dimensions the sizes that follow, and those that nothing tells their share.

        Returns:
            What no sizes suit.
        """
        self._pair_parts()
        pivots: dict[Dim, tuple[_Terms, Fraction]] = {}
        clashes, sources = [], dict[Dim, frozenset[int]]()
        for terms, total in self._rows:
            row, rest = _reduced(terms, total, pivots)
            ends = [dim.end() for dim in terms]
            about = frozenset().union(*(dim.guesses | sources.get(dim, frozenset()) for dim in ends))
            if not row and rest:
                clashes.append(ClashError(about))
            if row:
                pivot = next(iter(row))
                sources[pivot] = about
                by = row[pivot]
                new = {dim: times / by for dim, times in row.items()}, rest / by
                pivots = {dim: _without(each, pivot, new) for dim, each in pivots.items()} | {pivot: new}
        rows = [*pivots.values()]
        while rows:
            rows = [(row, rest) for row, rest in rows if not _finished(row, rest)]
            if not any(_shared(row, rest) for row, rest in rows):
                break
        _equal(pivots)
        for whole, parts in self._products:
            _split_evenly(whole.end().value, [part.end() for part in parts])
        return clashes

    def _pair_parts(self) -> None:
        """Let two sums of as many unknown parts that are one size have the same parts: kept ones, and new ones."""
        known: dict[Dim, list[Dim]] = {}
        for terms, total in self._rows:
            whole = next((dim.end() for dim, times in terms.items() if times < 0), Dim(1))
            parts = [dim.end() for dim, times in terms.items() if times == 1]
            if whole.value or total or not 1 < len(parts) == len(terms) - 1 or any(part.value for part in parts):
                continue
            for part, other in zip(parts, known.setdefault(whole, parts), strict=False):
                same(part, other)


def _split_evenly(whole: int, parts: list[Dim]) -> None:
    """Give two sides of a map of which only the product is told the same size: ``nn.Linear(c * h * w, n)``."""
    unknown = [part for part in parts if not part.value]
    area, rest = divmod(whole, math.prod(part.value or 1 for part in parts))
    side = math.isqrt(area)
    if len(unknown) == len({*unknown}) == _SIDES and not rest and side > 1 and side * side == area:
        for part in unknown:
            part.value = side


def _equal(pivots: dict[Dim, tuple[_Terms, Fraction]]) -> None:
    """Dimensions of which the same follows are one, even if nobody knows how many items they have."""
    found: dict[tuple[frozenset[tuple[Dim, Fraction]], Fraction], Dim] = {}
    for pivot, (row, rest) in pivots.items():
        others = frozenset((dim, times) for dim, times in row.items() if dim is not pivot)
        first = found.setdefault((others, rest), pivot)
        if others and not (pivot.value or first.value):
            same(pivot, first)


def _reduced(terms: dict[Dim, int], total: int, pivots: dict[Dim, tuple[_Terms, Fraction]]) -> tuple[_Terms, Fraction]:
    """An equation of what is not known otherwise."""
    found: _Terms = {}
    rest = Fraction(total)
    for dim, times in terms.items():
        end = dim.end()
        if end.value:
            rest -= times * end.value
        else:
            found[end] = found.get(end, Fraction(0)) + times
    row = {dim: times for dim, times in found.items() if times}, rest
    for pivot, known in pivots.items():
        row = _without(row, pivot, known)
    return row


def _without(row: tuple[_Terms, Fraction], pivot: Dim, known: tuple[_Terms, Fraction]) -> tuple[_Terms, Fraction]:
    times = row[0].get(pivot)
    if not times:
        return row
    terms = dict(row[0])
    for dim, other in known[0].items():
        terms[dim] = terms.get(dim, Fraction(0)) - times * other
    return {dim: value for dim, value in terms.items() if value}, row[1] - times * known[1]


def _finished(row: _Terms, rest: Fraction) -> bool:
    """Whether at most one dimension of an equation was not known; it gets its size."""
    free = [dim for dim in row if not dim.value]
    if len(free) == 1:
        size = (rest - sum(times * dim.value for dim, times in row.items())) / row[free[0]]
        if size >= 1 and size == int(size):
            free[0].value = int(size)
    return len(free) < 2  # noqa: PLR2004


def _shared(row: _Terms, rest: Fraction) -> bool:
    """Give one of several dimensions that only add up to something its share."""
    rest -= sum(times * dim.value for dim, times in row.items())
    free = [(dim, times) for dim, times in row.items() if not dim.value]
    size = rest // sum(times for _, times in free) if all(times > 0 for _, times in free) else 0
    if size >= 1:
        free[0][0].value = int(size)
    return size >= 1
