"""Sizes of dimensions of inputs while nobody has said what they are: each has one of its own."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from torch.nn.parameter import is_lazy

from modeldiagrams.resolve.code.forward import parameters_of
from modeldiagrams.resolve.names.candidates import SIZES, element_count
from modeldiagrams.resolve.names.constructor_sizes import constructor_numbers, constructor_sides, values_of
from modeldiagrams.resolve.names.roles import role_of
from modeldiagrams.resolve.values.entries import LESS, leaves, put_all

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import nn

    from modeldiagrams.resolve.values.entries import Entries, Leaf, Path

__all__ = ["BATCHES", "Sizes"]

BATCHES = (7, 11, 13, 5)
"""Numbers of rows: the first that is no size of the model's own."""
_PRIMES = (11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113)
_LARGE_PRIMES = (127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199)
"""For the sides of images, which layers make smaller."""
_PAIR = 2
_CHANNELS = (1, 3)
"""Of pictures in gray and in colour."""
_VIDEO_RANK = 5
_COLOURS = 3
_FEW = 8
_LONG = 1000
_LARGE = 40
"""A side that may be made smaller."""
_LESS = (LESS, 18, 6)
"""What large sides are replaced by, and their dimension added, so that none is another one's size."""
_LEAST_SIDE = 16
_USUAL_LENGTH = 16
_MOST_KNOWN = 1024


class Sizes:
    """Gives out sizes that occur nowhere else."""

    def __init__(self, model: nn.Module) -> None:
        """Read the sizes that the model knows.

        Args:
            model: Its attributes hold whole numbers, of which some are sizes of its inputs.
        """
        numbers = {
            value
            for module in model.modules()
            for value in vars(module).values()
            if type(value) is int and 1 < value <= _MOST_KNOWN
        }
        defaults = [p.default for p in parameters_of(type(model)).values()]
        pairs = [value for value in defaults if isinstance(value, tuple | list) and len(value) == _PAIR]
        self.sides = [
            *constructor_sides(),
            *((int(a), int(b)) for a, b in pairs if type(a) is type(b) is int and min(a, b) >= _LEAST_SIDE),
            *((n, n) for n in [*sorted(numbers), *SIZES["<size>"]] if n >= _LEAST_SIDE),
        ]
        """Heights and widths that pictures may have, likeliest first."""
        self.known = sorted(numbers)
        own = [*vars(model).values(), *constructor_numbers().values()]
        self.own = [*dict.fromkeys(value for value in own if type(value) is int)]
        """Numbers that the model itself has, and those that it was made with."""
        weights = [parameter for parameter in model.parameters() if not is_lazy(parameter)]
        self.of_layers = {size for weight in weights for size in weight.shape if size > _FEW}
        """Widths of weights; smaller ones may be those of anything."""
        taken = {size for weight in weights for size in weight.shape} | numbers
        self.batch = next((size for size in BATCHES if size not in taken), BATCHES[0])
        self._free = [size for size in _PRIMES if size not in {*taken, self.batch}]
        self._large = [size for size in _LARGE_PRIMES if size not in taken]
        self._given: dict[tuple[Path, int], int] = {}
        self._expected: dict[int, int] = {}

    def new(self, path: Path, dimension: int, *, is_side: bool = False) -> int:
        """The size of one dimension of one input, the same whenever it is asked for."""
        key = (path, dimension)
        if key not in self._given:
            source = self._large if is_side else self._free
            taken = {*self._given.values()}
            self._given[key] = next((size for size in source if size not in taken), source[-1])
        return self._given[key]

    def expect(self, size: int, usual: int) -> None:
        """What readers expect in place of a size that was given out here."""
        self._expected[size] = usual

    def expect_nothing(self) -> None:
        """Forget what was expected: the model doesn't run with it."""
        self._expected.clear()

    def affordable(self, entries: Entries, most: int) -> Entries:
        """The same with at most so many elements, if only sizes that were given out here need to be smaller."""
        smaller = entries
        for about in _LESS:
            smaller = self._with_sides(entries, about, most)
            if element_count(smaller) <= most:
                break
        return smaller

    def fewest(self, entries: Entries) -> Entries:
        """The same with one row, and two of everything whose size was given out here: for a pass that has values."""
        fewest = dict.fromkeys(self._given.values(), _PAIR) | {self.batch: 1}
        for leaf in [*leaves(entries)]:
            shape = tuple(fewest.get(size, size) for size in leaf.shape)
            entries = put_all(entries, leaf.path, replace(leaf, shape=shape).entry)
        return entries

    def _with_sides(self, entries: Entries, about: int, most: int) -> Entries:
        for leaf in sorted(leaves(entries), key=lambda leaf: -math.prod(leaf.shape)):
            if element_count(entries) <= most:
                break
            small = [about + d if size > _LARGE and self.is_own(size) else size for d, size in enumerate(leaf.shape)]
            entries = put_all(entries, leaf.path, replace(leaf, shape=tuple(small)).entry)
        return entries

    def given(self) -> list[int]:
        """The sizes that were given out here, but for that of the batch."""
        return [*self._given.values()]

    def is_own(self, size: int) -> bool:
        """Whether a size was given out here."""
        return size == self.batch or size in self._given.values()

    def of(self, leaf: Leaf) -> Leaf:
        """The same with sizes of its own, except for edges of a graph and for lengths that make no sense if short."""
        rank = len(leaf.shape)
        role = role_of(str(leaf.path[-1])) if leaf.path else None
        if (leaf.dtype == "int64" and leaf.shape[:1] == (_PAIR,)) or (role and role.name == "edge weights"):
            return leaf  # there are as many as edges
        leaf = self._with_oblong_sides(leaf)
        shape = [
            size
            if size >= _LONG
            or (dimension > 1 and (size, size) in constructor_sides())
            or (dimension >= rank - _PAIR and _has_oblong_sides(leaf.shape))
            else self.batch
            if dimension == 0
            else self.new(leaf.path, dimension, is_side=rank > 1 + _PAIR and dimension >= rank - _PAIR)
            for dimension, size in enumerate(leaf.shape)
        ]
        return replace(leaf, shape=tuple(shape))

    def _with_oblong_sides(self, leaf: Leaf) -> Leaf:
        """The same with the height and the width that the constructor has, in place of usual ones."""
        sides, side = next(iter(constructor_sides()), None), values_of("<size>")[0]
        is_open = len(leaf.shape) > 1 + _PAIR and leaf.shape[-_PAIR:] == (side, side)
        return replace(leaf, shape=(*leaf.shape[:-_PAIR], *sides)) if sides and is_open else leaf

    def _sides(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Height and width of pictures; both parts of complex numbers come behind them."""
        has_parts = shape[-1] == _PAIR and not self.is_own(shape[-1])
        return shape[-1 - _PAIR : -1] if has_parts else shape[-_PAIR:]

    def usual(self, leaf: Leaf, batch: int, beside: Iterable[Leaf] = ()) -> Leaf:
        """The same with the sizes that readers expect in place of those given out here.

        Args:
            leaf: One tensor.
            batch: Its number of rows.
            beside: All tensors: a size that one has as a picture is the same in others.
        """
        pictures = [each.shape for each in (leaf, *beside) if len(each.shape) > 1 + _PAIR or _is_listed_picture(each)]
        videos = [shape for shape in pictures if len(shape) >= _VIDEO_RANK]
        frames = {size for s in videos for size in s[:-_PAIR]} - {size for s in videos for size in self._sides(s)}
        sides = {size for shape in pictures for size in shape} - frames
        usual = dict.fromkeys(self._given.values(), _USUAL_LENGTH)
        usual |= {size: values_of("<size>" if size in sides else "<frames>")[0] for size in sides | frames}
        usual |= {each.shape[-_PAIR - 1]: _COLOURS for each in (leaf, *beside) if _is_named_picture(each)}
        usual |= self._expected
        given = {size: usual[size] for size in self._given.values()} | {self.batch: batch}
        return replace(leaf, shape=tuple(given.get(size, size) for size in leaf.shape))


def _has_oblong_sides(shape: tuple[int, ...]) -> bool:
    """Whether the sides of a picture are a height and another width that the constructor has."""
    sides = shape[-_PAIR:]
    return len(shape) > 1 + _PAIR and sides[0] != sides[1] and sides in constructor_sides()


def _is_named_picture(leaf: Leaf) -> bool:
    """Whether it is a batch of pictures by its name."""
    role = role_of(next((key for key in reversed(leaf.path) if isinstance(key, str)), ""))
    return len(leaf.shape) == _VIDEO_RANK - 1 and role is not None and role.name == "image"


def _is_listed_picture(leaf: Leaf) -> bool:
    """Whether it is one of several pictures, without a batch."""
    return len(leaf.shape) == 1 + _PAIR and leaf.shape[0] in _CHANNELS and any(type(key) is int for key in leaf.path)
