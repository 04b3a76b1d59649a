"""Views: a tensor has as many elements in every shape, which tells sizes and ranks that nothing else does."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from modeldiagrams.target.inference.symbolic.shapes import ClashError, Dim, Row, Shape, factors_of, same, same_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Products"]

_Parts = list[Dim | Row]
"""What is multiplied to a number of elements, in its order."""


@dataclass
class Products:
    """Shapes that are the same tensor's."""

    _pairs: list[tuple[Shape, Shape]] = field(default_factory=list)

    def add(self, before: Shape, after: Shape) -> None:
        """A tensor is seen in another shape."""
        self._pairs.append((before, after))
        try:
            _tell(before, after)
        except TypeError:  # code has a size that is no number
            self._pairs.pop()

    def solve(self) -> list[ClashError]:
        """Tell the sizes that follow, and then the ranks.

        Returns:
            What no sizes suit.
        """
        clashes: list[ClashError] = []
        for tell in (_tell, _tell_rank):
            pending = [*self._pairs]
            while told := [pair for pair in pending if _is_told(tell, pair, clashes)]:
                pending = [pair for pair in pending if pair not in told]
        return clashes


def _is_told(tell: object, pair: tuple[Shape, Shape], clashes: list[ClashError]) -> bool:
    try:
        return bool(tell(*pair))  # type: ignore[operator]
    except ClashError as error:
        clashes.append(error)
        return True
    except TypeError:  # code has a size that is no number
        return True


def _tell(before: Shape, after: Shape) -> bool:
    """Whether a size follows, and it is told: one that is left, or one that is a product of others."""
    left, right = _different(before, after)
    if not all(isinstance(part, Dim) for part in (*left, *right)):
        return False
    for one, other in ((left, right), (right, left)):
        unknown = [part for part in one if isinstance(part, Dim) and not part.value]
        dims = [part for part in other if isinstance(part, Dim)]
        if len(unknown) == 1 and all(dim.value for dim in dims):
            _divide(unknown[0], math.prod(dim.value for dim in dims), math.prod(d.value or 1 for d in _dims(one)))
            return True
        if len(unknown) == len(one) == 1 and dims and unknown[0] not in dims:
            _become(unknown[0], dims)
            return True
    return False


def _divide(dim: Dim, elements: int, by: int) -> None:
    if elements % by:
        raise ClashError(dim.guesses)
    same(dim, Dim(elements // by))


def _become(dim: Dim, parts: list[Dim]) -> None:
    """A dimension is one, or the product of several."""
    if len(parts) == 1:
        same(dim, parts[0])
    else:
        same_parts([part.end() for part in dim.factors], [part.end() for part in parts])
        dim.factors = (*parts,)


def _tell_rank(before: Shape, after: Shape) -> bool:
    """Whether a rank follows, and it is told: dimensions that were joined, or those before features."""
    left, right = _different(before, after)
    for shape, one, other in ((before, *_divided(left, right)), (after, *_divided(right, left))):
        rows, beside, dims = [*_rows(one)], [*_dims(one)], [*_dims(other)]
        if len(rows) != 1 or not dims or [*_rows(other)]:
            continue
        if _are_told(shape.end(), dims) and not beside:
            rows[0].is_shape = Shape((*(dim for dim in dims if dim.value != 1),))
            return True
        if len(beside) == 1 and all(dim.value for dim in dims):  # it has one size for all
            rows[0].is_shape = Shape()
            return _tell(before, after)
    return _tell(before, after)


def _are_told(shape: Shape, dims: list[Dim]) -> bool:
    """Whether dimensions are those of a row, and not just as many elements: what is flattened may be a picture."""
    open_, is_one = [dim for dim in dims if not dim.value], len(dims) == 1
    is_of_more = bool(open_) and bool(shape.front) is not is_one  # the items of a row, or all items
    return bool(shape.back) or len(open_) > 1 or is_of_more


def _divided(parts: _Parts, others: _Parts) -> tuple[_Parts, _Parts]:
    """The same without numbers on one side, if they divide those on the other side."""
    by, numbers = (math.prod(dim.value or 1 for dim in _dims(each)) for each in (parts, others))
    at = next((at for at, part in enumerate(others) if isinstance(part, Dim) and part.value), None)
    if by == 1 or numbers % by or at is None:
        return parts, others
    rest = [part for part in others[at + 1 :] if not _is_number(part)]
    return [part for part in parts if not _is_number(part)], [*others[:at], Dim(numbers // by), *rest]


def _is_number(part: Dim | Row) -> bool:
    return isinstance(part, Dim) and part.value > 0


def _dims(parts: _Parts) -> Iterator[Dim]:
    return (part for part in parts if isinstance(part, Dim))


def _rows(parts: _Parts) -> Iterator[Row]:
    return (part for part in parts if isinstance(part, Row))


def _different(before: Shape, after: Shape) -> tuple[_Parts, _Parts]:
    """What two shapes are products of that isn't in both."""
    kept, rest = [], [*_parts(after)]
    for part in _parts(before):
        known = next((at for at, other in enumerate(rest) if _is_same(part, other)), None)
        if known is None:
            kept.append(part)
        else:
            rest.pop(known)
    return kept, rest


def _parts(shape: Shape) -> Iterator[Dim | Row]:
    known = shape.end()
    for part in (*known.front, *((known.row,) if known.row else ()), *known.back):
        each = [part] if isinstance(part, Row) else factors_of(part)
        yield from (one for one in each if isinstance(one, Row) or one.value != 1)


def _is_same(part: Dim | Row, other: Dim | Row) -> bool:
    if isinstance(part, Row) or isinstance(other, Row):
        return part is other
    return part is other or 0 < part.value == other.value
