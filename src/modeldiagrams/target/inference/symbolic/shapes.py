"""Shapes of which only a part is known: sizes and ranks that become the same, or numbers, as uses tell.

A shape has dimensions in front, dimensions at the back, and between them a row of unknown length, until somebody tells
the rank. Dimensions that must be equal become one; sums and multiples of them are `equations`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modeldiagrams.target.inference.symbolic.guesses import Guesses

__all__ = ["ClashError", "Dim", "Row", "Shape", "closed", "factors_of", "same", "same_parts", "unified"]


class ClashError(Exception):
    """Two uses that no shape suits."""

    def __init__(self, guesses: frozenset[int] = frozenset()) -> None:
        super().__init__()
        self.guesses = guesses
        """What the sizes that clash came from; none where ranks do."""


@dataclass(eq=False)
class Dim:
    """One dimension."""

    value: int = 0
    """Its size; 0 as long as nobody has said it."""
    least: int = 0
    """Its items that are read by number are below this."""
    step: int = 1
    """It is a multiple of this."""
    factors: tuple[Dim, ...] = ()
    """It has as many items as all these together: rows and steps, joined."""
    times: tuple[Dim, int] | None = None
    """Another one of which it is a multiple, and how often: the side of a map that was made larger."""
    every: tuple[Dim, int] | None = None
    """Another one of which it has every such item."""
    floor: int = 0
    """It has so many items, or more."""
    padded: tuple[Dim, int] | None = None
    """Another one to which so many items were added."""
    guesses: frozenset[int] = frozenset()
    """By which it was told to be the same as others, see `guesses`."""
    called: str = ""
    """The name that code gives to its size."""
    is_rows: bool = False
    """Whether a layer takes it for the batch."""
    _same: Dim | None = None

    def needs(self, count: int) -> None:
        """Note that there have to be so many items."""
        end = self.end()
        end.floor = max(end.floor, count)
        if end.every:
            end.every[0].needs(count * end.every[1])

    def end(self) -> Dim:
        """The one that stands for all that are equal."""
        found = self
        while found._same is not None:
            found = found._same
        return found


def same(a: Dim, b: Dim) -> None:
    """Two dimensions are one."""
    a, b = a.end(), b.end()
    if a is b:
        return
    if a.value and b.value and a.value != b.value:
        raise ClashError(a.guesses | b.guesses)
    b.guesses |= a.guesses
    b.value, b.least, b.step = b.value or a.value, max(a.least, b.least), max(a.step, b.step)
    parts = (factors_of(a), factors_of(b)) if a.factors and b.factors else None
    b.factors, b.times = b.factors or a.factors, b.times or a.times
    b.called, b.is_rows = b.called or a.called, b.is_rows or a.is_rows
    b.every, b.floor = b.every or a.every, max(a.floor, b.floor)
    a._same = b  # noqa: SLF001
    if parts:
        same_parts(*parts)


def same_parts(of_one: list[Dim], of_other: list[Dim]) -> None:
    """Two products are one: so are their parts in turn, where there are as many and nothing contradicts."""
    one = [part for part in of_one if part not in of_other]
    other = [part for part in of_other if part not in of_one]
    pairs = [*zip(one, other, strict=False)]
    if len(one) == len(other) and all(0 in (a.value, b.value) or a.value == b.value for a, b in pairs):
        for a, b in pairs:
            same(a, b)


def factors_of(dim: Dim, of: tuple[Dim, ...] = ()) -> list[Dim]:
    """The dimensions that one is the product of; itself where it is no product, or one of itself."""
    end = dim.end()
    if end.value or not end.factors or end in of:
        return [end]
    parts = [each for part in end.factors for each in factors_of(part, (*of, end))]
    return [end] if end in parts else parts


@dataclass(eq=False)
class Row:
    """Dimensions of which nobody has said how many there are."""

    is_shape: Shape | None = None
    """What it turned out to be."""
    is_likely_empty: bool = False
    """Whether features are rather among the dimensions in front than behind it."""
    guesses: Guesses | None = None
    """Of the reading that it belongs to."""

    def is_taken_for_empty(self) -> bool:
        """Whether this reading takes it for empty, where the last dimensions may be those in front."""
        return self.is_likely_empty is (self.guesses is None or self.guesses.is_usual())


@dataclass(frozen=True)
class Shape:
    """Dimensions in front, a row of unknown length, dimensions at the back."""

    front: tuple[Dim, ...] = ()
    row: Row | None = None
    back: tuple[Dim, ...] = ()

    def end(self) -> Shape:
        """As far as it is known by now; without a row, all dimensions are in front."""
        front, row, back = self.front, self.row, self.back
        while row is not None and row.is_shape is not None:
            inner = row.is_shape
            front, row, back = (*front, *inner.front), inner.row, (*inner.back, *back)
        return Shape(front, row, back) if row else Shape((*front, *back))

    @property
    def rank(self) -> int | None:
        """How many dimensions there are, if that is known."""
        known = self.end()
        return None if known.row else len(known.front)

    def dims(self) -> tuple[Dim, ...]:
        """The dimensions that are known."""
        known = self.end()
        return tuple(dim.end() for dim in (*known.front, *known.back))

    def of_rank(self, rank: int) -> Shape:
        """The same with so many dimensions."""
        known = self.end()
        missing = rank - len(known.front) - len(known.back)
        if missing < 0 or (missing and known.row is None):
            raise ClashError
        if known.row is not None:
            known.row.is_shape = Shape(tuple(Dim() for _ in range(missing)))
        return known.end()

    def reaching(self, dimension: int) -> Shape:
        """The same with so many dimensions in front, or at the back, that it has this one."""
        known = self.end()
        if known.row is None:
            if not -len(known.front) <= dimension < len(known.front):
                raise ClashError
            return known
        missing = dimension + 1 - len(known.front) if dimension >= 0 else -dimension - len(known.back)
        is_among = -dimension <= len(known.dims()) if dimension < 0 else dimension + 1 == len(known.dims())
        if missing > 0 and is_among and known.row.is_taken_for_empty():
            known.row.is_shape = Shape()
        elif missing > 0:
            new, row = tuple(Dim() for _ in range(missing)), replace(known.row)
            known.row.is_shape = Shape(new, row) if dimension >= 0 else Shape((), row, new)
        return known.end()

    def at(self, dimension: int) -> Dim:
        """One dimension."""
        known = self.reaching(dimension)
        if known.row is None or dimension >= 0:
            return known.front[dimension]
        return known.back[dimension]

    def replaced(self, dimension: int, *new: Dim) -> Shape:
        """The same with others in place of one dimension."""
        known = self.reaching(dimension)
        if known.row is None:
            at = dimension % len(known.front)
            return Shape((*known.front[:at], *new, *known.front[at + 1 :]))
        if dimension >= 0:
            return Shape((*known.front[:dimension], *new, *known.front[dimension + 1 :]), known.row, known.back)
        at = len(known.back) + dimension
        return Shape(known.front, known.row, (*known.back[:at], *new, *known.back[at + 1 :]))

    def inserted(self, dimension: int, new: Dim) -> Shape:
        """The same with one more dimension, which will be at this place."""
        known = self.end()
        if dimension == 0:
            return Shape((new, *known.front), known.row, known.back)
        if dimension == -1:
            return Shape(known.front, known.row, (*known.back, new)) if known.row else Shape((*known.front, new))
        beside = dimension - 1 if dimension > 0 else dimension + 1
        dim = self.at(beside)
        return self.replaced(beside, *((dim, new) if dimension > 0 else (new, dim)))


def closed(*dims: Dim) -> Shape:
    """A shape of known rank."""
    return Shape(dims)


def unified(a: Shape, b: Shape) -> Shape:
    """Two shapes are one."""
    a, b = a.end(), b.end()
    for one, other in ((a, b), (b, a)):
        if one.row is None:
            fixed = other.of_rank(len(one.front))
            for x, y in zip(one.front, fixed.front, strict=True):
                same(x, y)
            return fixed
    for x, y in zip(a.front, b.front, strict=False):
        same(x, y)
    for x, y in zip(reversed(a.back), reversed(b.back), strict=False):
        same(x, y)
    if a.row is b.row or a.row is None or b.row is None:
        return a
    more = tuple(one.front[len(other.front) :] for one, other in ((a, b), (b, a)))
    rest = tuple(one.back[: len(one.back) - len(other.back)] for one, other in ((a, b), (b, a)))
    row = replace(a.row, is_likely_empty=a.row.is_likely_empty or b.row.is_likely_empty)
    b.row.is_shape = Shape(more[0], row, rest[0])
    a.row.is_shape = Shape(more[1], row, rest[1])
    return a.end()
