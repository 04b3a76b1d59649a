"""Sizes of inputs: unique ones during the search, and usual ones for the result."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torch.nn.parameter import is_lazy

from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.inputs.forward_parameters import NODES
from modeldiagrams.resolve.names.candidates import (
    SIZES,
    count_elements,
    find_role,
    get_constructor_numbers,
    get_constructor_sides,
    list_sizes,
)
from modeldiagrams.resolve.values.input_entries import LESS, list_leaves, put_entry, put_entry_everywhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torch import nn

    from modeldiagrams.resolve.values.input_entries import Entries, Leaf, Path

__all__ = ["BATCHES", "Sizes", "UsualSizes", "is_sequence"]

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
_LONG = 1000
_LARGE = 40
"""A side that may be made smaller."""
_LESS = (LESS, 18, 6)
"""What large sides are replaced by, and their dimension added, so that none is another one's size."""
_LEAST_SIDE = 16
_USUAL_LENGTH = 16
_MOST_KNOWN = 1024


class Sizes:
    """Allocates sizes that occur nowhere else in the model."""

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
        defaults = [p.default for p in get_parameters(type(model)).values()]
        pairs = [value for value in defaults if isinstance(value, tuple | list) and len(value) == _PAIR]
        self.sides = [
            *get_constructor_sides(),
            *((int(a), int(b)) for a, b in pairs if type(a) is type(b) is int and min(a, b) >= _LEAST_SIDE),
            *((n, n) for n in [*sorted(numbers), *SIZES["<size>"]] if n >= _LEAST_SIDE),
        ]
        """Heights and widths that pictures may have, likeliest first."""
        self.known = sorted(numbers)
        own = [*vars(model).values(), *get_constructor_numbers().values()]
        self.own = [*dict.fromkeys(value for value in own if type(value) is int)]
        """Numbers that the model holds or was made with."""
        weights = [parameter for parameter in model.parameters() if not is_lazy(parameter)]
        taken = {size for weight in weights for size in weight.shape} | numbers
        self.batch = next((size for size in BATCHES if size not in taken), BATCHES[0])
        self._free = [size for size in _PRIMES if size not in {*taken, self.batch}]
        self._large = [size for size in _LARGE_PRIMES if size not in taken]
        self._given: dict[tuple[Path, int], int] = {}

    def new(self, path: Path, dimension: int, *, is_side: bool = False) -> int:
        """The size of one dimension of one input, the same whenever it is asked for."""
        key = (path, dimension)
        if key not in self._given:
            source = self._large if is_side else self._free
            taken = {*self._given.values()}
            self._given[key] = next((size for size in source if size not in taken), source[-1])
        return self._given[key]

    def affordable(self, entries: Entries, most: int) -> Entries:
        """The same with at most so many elements, if only sizes that were given out here need to be smaller."""
        smaller = entries
        for about in _LESS:
            smaller = self._with_sides(entries, about, most)
            if count_elements(smaller) <= most:
                break
        return smaller

    def _with_sides(self, entries: Entries, about: int, most: int) -> Entries:
        for leaf in sorted(list_leaves(entries), key=lambda leaf: -math.prod(leaf.shape)):
            if count_elements(entries) <= most:
                break
            small = [about + d if size > _LARGE and self.is_own(size) else size for d, size in enumerate(leaf.shape)]
            entries = put_entry_everywhere(entries, leaf.path, replace(leaf, shape=tuple(small)).entry)
        return entries

    def is_own(self, size: int) -> bool:
        """Whether a size was given out here."""
        return size == self.batch or size in self._given.values()

    def of(self, leaf: Leaf) -> Leaf:
        """The same with sizes of its own, except for edges of a graph and for lengths that make no sense if short."""
        rank = len(leaf.shape)
        role = find_role(str(leaf.path[-1])) if leaf.path else None
        if (leaf.dtype == "int64" and leaf.shape[:1] == (_PAIR,)) or (role and role.name == "edge weights"):
            return leaf  # there are as many as edges
        leaf = self._with_oblong_sides(leaf)
        shape = [
            size
            if size >= _LONG
            or (dimension > 1 and (size, size) in get_constructor_sides())
            or (dimension >= rank - _PAIR and _has_oblong_sides(leaf.shape))
            else self.batch
            if dimension == 0
            else self.new(leaf.path, dimension, is_side=rank > 1 + _PAIR and dimension >= rank - _PAIR)
            for dimension, size in enumerate(leaf.shape)
        ]
        return replace(leaf, shape=tuple(shape))

    def _with_oblong_sides(self, leaf: Leaf) -> Leaf:
        """The same with the height and the width that the constructor has, in place of usual ones."""
        sides, side = next(iter(get_constructor_sides()), None), list_sizes("<size>")[0]
        is_open = len(leaf.shape) > 1 + _PAIR and leaf.shape[-_PAIR:] == (side, side)
        return replace(leaf, shape=(*leaf.shape[:-_PAIR], *sides)) if sides and is_open else leaf

    def usual(self, leaf: Leaf, batch: int, others: Iterable[Leaf] = ()) -> Leaf:
        """The same with the sizes that readers expect in place of those given out here.

        Args:
            leaf: One tensor.
            batch: Its number of rows.
            others: All tensors: a size that one has as a picture is the same in others.
        """
        pictures = [each.shape for each in (leaf, *others) if len(each.shape) > 1 + _PAIR or _is_listed_picture(each)]
        videos = [shape for shape in pictures if len(shape) >= _VIDEO_RANK]
        frames = {size for s in videos for size in s[:-_PAIR]} - {size for s in videos for size in s[-_PAIR:]}
        sides = {size for shape in pictures for size in shape} - frames
        usual = dict.fromkeys(self._given.values(), _USUAL_LENGTH)
        usual |= {size: list_sizes("<size>" if size in sides else "<frames>")[0] for size in sides | frames}
        usual |= {each.shape[-_PAIR - 1]: _COLOURS for each in (leaf, *others) if _is_named_picture(each)}
        given = {size: usual[size] for size in self._given.values()} | {self.batch: batch}
        return replace(leaf, shape=tuple(given.get(size, size) for size in leaf.shape))


def _has_oblong_sides(shape: tuple[int, ...]) -> bool:
    """Whether the sides of a picture are a height and another width that the constructor has."""
    sides = shape[-_PAIR:]
    return len(shape) > 1 + _PAIR and sides[0] != sides[1] and sides in get_constructor_sides()


def _is_named_picture(leaf: Leaf) -> bool:
    """Whether it is a batch of pictures by its name."""
    role = find_role(next((key for key in reversed(leaf.path) if isinstance(key, str)), ""))
    return len(leaf.shape) == _VIDEO_RANK - 1 and role is not None and role.name == "image"


def _is_listed_picture(leaf: Leaf) -> bool:
    """Whether it is one of several pictures, without a batch."""
    return len(leaf.shape) == 1 + _PAIR and leaf.shape[0] in _CHANNELS and any(type(key) is int for key in leaf.path)


_IMAGE_RANK = 4
_LEAST_USUAL_SIDE = 8
"""A dimension of fewer items is no side of a picture."""


class UsualSizes:
    """Replaces allocated sizes by usual ones where the model still runs."""

    def __init__(
        self,
        sizes: Sizes,
        works: Callable[[Entries], bool],
        *,
        is_graph: bool,
    ) -> None:
        """Keep what decides.

        Args:
            sizes: Allocated the sizes that nothing states.
            works: Runs the model with entries.
            is_graph: Whether there are nodes and edges.
        """
        self.sizes, self._works, self._is_graph = sizes, works, is_graph

    def alternatives(self, entries: Entries) -> Iterator[Entries]:
        """The same as readers would write it, if the model runs with that; and as it was found."""
        entries = self._with_numbers(entries)
        shown = self.shown(entries)
        keeps_batch = self._works(shown)
        yield self._with_square_pictures(shown)
        # if it keeps the batch, this would otherwise be the same
        mostly = self._mostly_shown(entries, self.sizes.batch if keeps_batch else 0)
        yield self._with_square_pictures(mostly)

    def _mostly_shown(self, entries: Entries, but_not: int) -> Entries:
        """The same with usual sizes where it still runs with them: some numbers suit each other by chance."""
        own = {size for leaf in list_leaves(entries) for size in leaf.shape if self.sizes.is_own(size)} - {but_not}
        for size in sorted(own):
            having = [leaf.path for leaf in list_leaves(entries) if size in leaf.shape]
            for paths in (having, *([path] for path in having if len(having) > 1)):
                changed = self._shown_in(entries, size, paths)
                if self._works(changed):
                    entries = changed
                    break
        return entries

    def _shown_in(self, entries: Entries, size: int, paths: list[Path]) -> Entries:
        for leaf in [leaf for leaf in list_leaves(entries) if leaf.path in paths]:
            usual = self._usual(leaf, entries).shape
            shape = tuple(b if a == size else a for a, b in zip(leaf.shape, usual, strict=True))
            entries = put_entry(entries, leaf.path, replace(leaf, shape=shape).entry)
        return entries

    def _with_numbers(self, entries: Entries) -> Entries:
        """The same with other numbers than whole ones, where the model runs with them and no name says whole."""
        for leaf in [*list_leaves(entries)]:
            role = find_role(str(leaf.path[-1]))
            is_open = role is None or (role.dimensions and not role.is_whole)
            if leaf.dtype == "int64" and is_open:
                changed = put_entry_everywhere(
                    entries, leaf.path, replace(leaf, dtype="float32", high=None, low=None).entry
                )
                entries = changed if self._works(changed) else entries
        return entries

    def _with_square_pictures(self, entries: Entries) -> Entries:
        """The same with sides that are all alike in place of such as fit by chance, where it still runs with them."""
        pictures = [leaf.shape[-2:] for leaf in list_leaves(entries) if len(leaf.shape) >= _IMAGE_RANK]
        odd = {size for sides in pictures if sides[0] != sides[1] for size in sides if not self.sizes.is_own(size)}
        said = {side for sides in get_constructor_sides() for side in sides}
        odd = set() if min(odd, default=0) < _LEAST_USUAL_SIDE else odd - said
        usual = list_sizes("<size>")[0]
        every = [*get_constructor_sides(), (usual, usual), *((size, size) for size in sorted(odd))]
        tries = (self._with_sides(entries, odd, sides) for sides in dict.fromkeys(every) if odd)
        return next(filter(self._works, tries), entries)

    def _with_sides(self, entries: Entries, odd: set[int], sides: tuple[int, int]) -> Entries:
        """The entries with these sides of pictures in place of odd and allocated ones."""
        changed = entries
        for leaf in list_leaves(entries):
            if len(leaf.shape) >= _IMAGE_RANK and odd & {*leaf.shape[-2:]}:
                pairs = zip(leaf.shape[-2:], sides, strict=True)
                new = tuple(side if size in odd or self.sizes.is_own(size) else size for size, side in pairs)
                changed = put_entry_everywhere(changed, leaf.path, replace(leaf, shape=(*leaf.shape[:-2], *new)).entry)
        return changed

    def shown(self, entries: Any) -> Any:
        """The same with usual sizes, whether or not the model runs with them."""
        changed = entries
        for leaf in list_leaves(entries):
            changed = put_entry(changed, leaf.path, self._usual(leaf, entries).entry)
        return changed

    def _usual(self, leaf: Leaf, entries: Any) -> Leaf:
        return self.sizes.usual(leaf, self._rows(entries), list_leaves(entries))

    def _rows(self, entries: Any) -> int:
        """How many rows there usually are: nodes of a graph, steps of one sequence, or one."""
        has_edges = any(each.shape == (2, self.sizes.batch) and each.dtype == "int64" for each in list_leaves(entries))
        if has_edges or self._is_graph or "edge_" in repr(entries):
            return NODES
        return list_sizes("<length>")[0] if is_sequence(entries) else 1


def is_sequence(entries: Entries) -> bool:
    """Whether the inputs are sequences of ids without a batch."""
    every = [*list_leaves(entries)]
    roles = [find_role(str(leaf.path[-1])) if leaf.path else None for leaf in every]
    are_ids = all(role is not None and role.name == "ids" for role in roles)
    return bool(every) and are_ids and all(len(leaf.shape) == 1 and leaf.dtype == "int64" for leaf in every)
