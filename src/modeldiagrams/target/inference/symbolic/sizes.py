"""Sizes of symbolic tensors in the model's own code: what they are compared with may be what they are."""

from __future__ import annotations

import itertools
import linecache
import re
import sys
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.demands import has_to_be_equal, is_demanded
from modeldiagrams.target.inference.lookups import assigned_name, unpacked_count, unpacked_ends, unpacked_names
from modeldiagrams.target.inference.symbolic.ranks import Rank, rank_in_pattern
from modeldiagrams.target.inference.symbolic.shapes import ClashError, Dim, closed, same, unified

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Parts", "Rest", "Shaped", "Size"]

_USUAL_RANK = 3
_MOST_STEP = 64
"""By which code divides sizes that are multiples of it."""


class Size(int):
    """The size of a dimension; what it is compared with may be what it is."""

    reading: Any
    dim: Dim

    @classmethod
    def of(cls, number: int, reading: Any, dim: Dim) -> Size:
        """A number that knows its dimension."""
        made = cls(number)
        made.reading, made.dim = reading, dim
        return made

    def __eq__(self, other: object) -> bool:
        return self._is(other) if has_to_be_equal(sys._getframe(1)) else int(self) == other

    def __ne__(self, other: object) -> bool:
        return not self._is(other) if has_to_be_equal(sys._getframe(1)) else int(self) != other

    __hash__ = int.__hash__

    def __mod__(self, other: Any) -> int:
        if type(other) is int and other > 1 and not self.dim.end().value and is_demanded(sys._getframe(1)):
            self.dim.end().step = max(self.dim.end().step, other)
            return 0
        return int(int(self) % other)

    def __floordiv__(self, other: Any) -> Any:
        if type(other) is int and other > 0:
            part = Dim(self.dim.end().value // other)
            if not part.value:
                self.dim.end().step = max(self.dim.end().step, other if other <= _MOST_STEP else 1)
                self.reading.equations.add(self.dim, {part: other})
            return self.reading.number(part)
        return int(int(self) // other)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Size) and (type(other) is not int or other <= 0 or self.dim.end().value):
            return int(self) * other
        if isinstance(other, Size):
            whole = self.reading.equations.product((self.dim, other.dim))
        else:
            self.reading.equations.add(whole := Dim(), {self.dim: other})
        return Size.of(int(self) * int(other), self.reading, whole)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        return self._moved(other) if type(other) is int else int(self) + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._moved(-other) if type(other) is int else int(self) - other

    def _moved(self, more: int) -> int:
        """So many items more or less: in numbers as everywhere, so that loops end where they should."""
        number = int(self) + more
        if not more or number <= 0 or self.dim.end().value:
            return number
        other = Dim()
        self.reading.equations.add(other, {self.dim: 1}, more)
        self.reading.numbers.setdefault(number, other)
        return Size.of(number, self.reading, other)

    def _is(self, other: Any) -> bool:
        if not isinstance(other, int):
            return False
        try:
            same(self.dim, self.reading.dim(other))
        except ClashError:
            return False
        return True


class Rest(int):
    """The sizes of a shape of which nobody has said how many there are: ``x.view(*index.shape, -1)``."""

    row: Any

    @classmethod
    def of(cls, row: Any) -> Rest:
        """A number that knows the dimensions that it stands for."""
        made = cls(1)
        made.row = row
        return made


class Parts(tuple[Any, ...]):  # noqa: SLOT001  (it has a dimension)
    """Items of a tensor along a dimension; code that takes them apart tells how many there are."""

    dim: Dim
    reading: Any

    def __iter__(self) -> Iterator[Any]:
        count = unpacked_count(frame := sys._getframe(1))  # noqa: SLF001
        if count and not self.dim.end().value:
            self.dim.end().value = count
        self.reading.goes_through(self.dim, frame)
        return itertools.islice(itertools.cycle([*super().__iter__()]), count or len(self))


class Cut(tuple[Any, ...]):  # noqa: SLOT001  (it has a tensor)
    """The last sizes of a tensor; code that compares them with as many as there should be tells the rank."""

    tensor: Any
    start: int | None

    def __eq__(self, other: object) -> bool:
        self._tell(other, has_to_be_equal(sys._getframe(1)))
        return self._now() == other

    def __ne__(self, other: object) -> bool:
        self._tell(other, has_to_be_equal(sys._getframe(1)))
        return self._now() != other

    __hash__ = tuple.__hash__

    def _tell(self, other: object, is_told: bool) -> None:  # noqa: FBT001
        if not is_told or self.start is None or not isinstance(other, tuple):
            return
        if self.start < 0 and len(other) != -self.start:
            return  # so many sizes are never the last ones
        with self.tensor.reading.noting():
            shape = self.tensor.known.end()
            whole = shape.of_rank(self.start + len(other)) if self.start >= 0 else shape
            for at, size in enumerate(reversed(other), 1):
                same(whole.at(-at), self.tensor.reading.dim(size))

    def _now(self) -> tuple[Any, ...]:
        known = self.tensor.known.end().dims() if self.start is not None else ()
        return tuple(self.tensor.reading.number(dim) for dim in known[self.start :]) if known else tuple(self)


class Shaped(tuple[Any, ...]):  # noqa: SLOT001  (it has a tensor)
    """The shape of a tensor, for code that takes it apart."""

    tensor: Any

    def __eq__(self, other: object) -> bool:
        return is_same_shape(self.tensor, other, has_to_be_equal(sys._getframe(1)))

    def __ne__(self, other: object) -> bool:
        return not is_same_shape(self.tensor, other, has_to_be_equal(sys._getframe(1)))

    __hash__ = object.__hash__  # caches of functions of shapes would take all for one

    def __iter__(self) -> Iterator[Any]:
        frame = sys._getframe(1)  # noqa: SLF001
        count, (first, last) = unpacked_count(frame), unpacked_ends(frame)
        dims = [Dim() for _ in range(count or first + last)]
        with self.tensor.reading.noting():
            for end in (first - 1,) * (first > 0) + (-last,) * (last > 0):
                self.tensor.known.reaching(end)
            dims = [*(self.tensor.known.of_rank(count) if count else self.tensor.known).dims()]
        known = self.tensor.known.end()
        if known.row and not count and not (first or last) and _is_viewed(frame):
            ends = ([self.tensor.reading.number(dim) for dim in part] for part in (known.front, known.back))
            return iter([*next(ends), Rest.of(known.row), *next(ends)])
        for dim, name in zip(dims, unpacked_names(frame) if count else (), strict=False):
            dim.end().called = dim.end().called or name.strip("_")
        return iter([self.tensor.reading.number(dim) for dim in dims])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._sliced(key)
        dim = Dim()
        with self.tensor.reading.noting():
            dim = self.tensor.known.at(int(key))
        dim.end().called = dim.end().called or assigned_name(_user_frame())
        return self.tensor.reading.number(dim)

    def _sliced(self, key: slice) -> tuple[Any, ...]:
        count = unpacked_count(sys._getframe(2))  # noqa: SLF001
        ends = [end for end in (key.start, key.stop) if end is not None]
        for end in ends:
            self.tensor.known.reaching(end - 1 if end > 0 else end or 0)
        if count and key.stop is None and (key.start or 0) >= 0:
            self.tensor.known.of_rank((key.start or 0) + count)
        known = self.tensor.known.end()
        if key.stop is None and (key.start or 0) > 1 and not count and self._are_pictures(known, key.start):
            known = known.of_rank(key.start + _USUAL_RANK)
        if key.stop is not None and key.stop < 0 and known.row and self.tensor.reading.guesses.is_usual():
            known = known.of_rank(max(_USUAL_RANK, len(known.dims())))
        if key.stop is not None and key.stop > 0 and (key.start or 0) >= 0:
            return tuple(self.tensor.reading.number(dim) for dim in known.front[key])
        cut = Cut([self.tensor.reading.number(dim) for dim in known.dims()][key])
        cut.tensor, cut.start = self.tensor, key.start if key.stop is None and key.step is None else None
        return cut

    def _are_pictures(self, known: Any, start: int) -> bool:
        """Whether what is left behind rows and steps are likely pictures: ``x.reshape(b * t, *x.shape[2:])``."""
        is_open = known.row is not None and len(known.dims()) <= start
        is_compared = is_demanded(sys._getframe(3))  # noqa: SLF001
        return bool(is_open and not is_compared and self.tensor.reading.guesses.is_usual())

    def __len__(self) -> int:
        frame = sys._getframe(1)  # noqa: SLF001
        rank_in_pattern(self.tensor, frame)
        return Rank.counted(self.tensor, frame)

    def numel(self) -> int:
        """As of a shape of PyTorch."""
        return 1


def _is_viewed(frame: Any) -> bool:
    """Whether a frame takes all sizes of a shape for those of a view."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return re.search(r"\.(view|reshape)\(.*\*\w", line) is not None


def _user_frame() -> Any:
    """The frame of the code that asks for one size, with ``shape[0]`` or ``size(0)``."""
    frame = sys._getframe(2)  # noqa: SLF001
    return frame.f_back if frame.f_code.co_name == "size" and frame.f_back else frame


def is_same_shape(tensor: Any, other: Any, is_told: bool) -> bool:  # noqa: FBT001
    """Whether a tensor's shape is another one, which becomes so where code asks for it."""
    shape = other.tensor.known if isinstance(other, Shaped) else None
    if shape is None and isinstance(other, tuple | list):
        shape = closed(*map(tensor.reading.dim, other))
    if shape is None:
        return False
    if is_told:
        with tensor.reading.noting():
            unified(tensor.known, shape)
            return True
    a, b = tensor.known.end(), shape.end()
    is_alike = len(a.dims()) == len(b.dims()) and a.row is b.row
    return is_alike and all(x is y or 0 != x.value == y.value for x, y in zip(a.dims(), b.dims(), strict=True))
