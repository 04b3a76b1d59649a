"""Entries that carry a model through, with the sizes that readers expect in place of those that nobody has."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.inputs.inferred import NODES
from modeldiagrams.resolve.names.constructor_sizes import constructor_numbers, constructor_sides, values_of
from modeldiagrams.resolve.names.roles import role_of
from modeldiagrams.resolve.values.entries import leaves, put, put_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.resolve.inputs.sizes import Sizes
    from modeldiagrams.resolve.values.entries import Entries, Leaf, Path

__all__ = ["NAMED", "UsualSizes", "as_named", "is_sequence"]

_IMAGE_RANK = 4
_SOUND = re.compile(r"audio|wave|sound|speech|(^|_)wavs?$")
_SOUND_RANK = 3
_SAMPLES = 4000
_POINTS = re.compile(r"x|pos|positions?|coords?|coordinates|xyz|r")
"""Names of where nodes are; of features, layers tell how many there are."""
_POINTS_RANK = 2
_COORDINATES = 3
_LEAST_SIDE = 8
"""A dimension of fewer items is no side of a picture."""
_MOST_SIDES = 4
"""That are tried for a picture that 32 is too small for."""


class UsualSizes:
    """Gives entries of one model usual sizes."""

    def __init__(
        self,
        sizes: Sizes,
        works: Callable[[Entries], bool],
        *,
        is_graph: bool,
    ) -> None:
        """Keep what decides.

        Args:
            sizes: Gave out the sizes that nobody has.
            works: Runs the model with entries.
            is_graph: Whether there are nodes and edges.
        """
        self.sizes, self._works, self._is_graph = sizes, works, is_graph

    def alternatives(self, entries: Entries) -> Iterator[Entries]:
        """The same as readers would write it, if the model runs with that; and as it was found."""
        entries = as_named(self._longer(self._with_numbers(entries)), self._works)
        for size, usual in self._meant(entries):
            self.sizes.expect(size, usual)
        shown = self.shown(entries)
        if not (keeps_batch := self._works(shown)):
            self.sizes.expect_nothing()
            keeps_batch = self._works(shown := self.shown(entries))
        yield self._with_square_pictures(self._with_masked(shown))
        # if it keeps the batch, this would otherwise be the same
        mostly = self._mostly_shown(entries, self.sizes.batch if keeps_batch else 0)
        yield self._with_square_pictures(self._with_larger_pictures(mostly))

    def _mostly_shown(self, entries: Entries, but_not: int) -> Entries:
        """The same with usual sizes where it still runs with them: some numbers suit each other by chance."""
        own = {size for leaf in leaves(entries) for size in leaf.shape if self.sizes.is_own(size)} - {but_not}
        for size in sorted(own):
            having = [leaf.path for leaf in leaves(entries) if size in leaf.shape]
            for paths in (having, *([path] for path in having if len(having) > 1)):
                changed = self._shown_in(entries, size, paths)
                if self._works(changed):
                    entries = changed
                    break
        return entries

    def _shown_in(self, entries: Entries, size: int, paths: list[Path]) -> Entries:
        for leaf in [leaf for leaf in leaves(entries) if leaf.path in paths]:
            usual = self._usual(leaf, entries).shape
            shape = tuple(b if a == size else a for a, b in zip(leaf.shape, usual, strict=True))
            entries = put(entries, leaf.path, replace(leaf, shape=shape).entry)
        return entries

    def _longer(self, entries: Entries) -> Entries:
        """Sequences that are as long as others, where code only asks for their length."""
        changed = entries
        for leaf in leaves(entries) if is_sequence(entries) else ():
            changed = put(changed, leaf.path, leaf.sized(0, values_of("<length>")[0]).entry)
        return changed if changed != entries and self._works(changed) else entries

    def _meant(self, entries: Entries) -> Iterator[tuple[int, int]]:
        """Sizes that nobody has, and those that are usual for what the input is: samples of a sound, coordinates."""
        every = [*leaves(entries)]
        is_graph = self._rows(entries) == NODES
        for leaf in every:
            size, name = (leaf.shape or (0,))[-1], str(leaf.path[-1])
            is_free = leaf.dtype == "float32" and self.sizes.is_own(size) and size != self.sizes.batch
            is_other = sum(each.shape.count(size) for each in every) > 1
            if is_free and len(leaf.shape) <= _SOUND_RANK and _SOUND.search(name):
                yield size, _SAMPLES
            elif is_free and is_graph and not is_other and len(leaf.shape) == _POINTS_RANK and _POINTS.fullmatch(name):
                yield size, _COORDINATES

    def _with_masked(self, entries: Entries) -> Entries:
        """The same with as many items as a mask is for, in place of one, where it still runs with them."""
        masks = [leaf for leaf in leaves(entries) if (role := role_of(str(leaf.path[-1]))) and role.name == "mask"]
        changed = entries
        for mask in masks:
            for leaf in leaves(changed):
                if len(leaf.shape) > len(mask.shape) and leaf.path != mask.path:
                    pairs = [*zip(leaf.shape, mask.shape, strict=False)][1:]
                    more = tuple(other if size == 1 else size for size, other in pairs)
                    shape = (leaf.shape[0], *more, *leaf.shape[len(mask.shape) :])
                    changed = put(changed, leaf.path, replace(leaf, shape=shape).entry)
        return changed if changed != entries and self._works(changed) else entries

    def _with_numbers(self, entries: Entries) -> Entries:
        """The same with other numbers than whole ones, where the model runs with them and no name says whole."""
        for leaf in [*leaves(entries)]:
            role = role_of(str(leaf.path[-1]))
            is_open = role is None or (role.dimensions and not role.is_whole)
            if leaf.dtype == "int64" and is_open:
                changed = put_all(entries, leaf.path, replace(leaf, dtype="float32", high=None, low=None).entry)
                entries = changed if self._works(changed) else entries
        return entries

    def _with_square_pictures(self, entries: Entries) -> Entries:
        """The same with sides that are all alike in place of such as fit by chance, where it still runs with them."""
        pictures = [leaf.shape[-2:] for leaf in leaves(entries) if len(leaf.shape) >= _IMAGE_RANK]
        odd = {size for sides in pictures if sides[0] != sides[1] for size in sides if not self.sizes.is_own(size)}
        said = {side for sides in constructor_sides() for side in sides}
        odd = set() if min(odd, default=0) < _LEAST_SIDE else odd - said
        usual = values_of("<size>")[0]
        every = [*constructor_sides(), (usual, usual), *((size, size) for size in sorted(odd))]
        tries = (self._with_sides(entries, odd, sides) for sides in dict.fromkeys(every) if odd)
        return next(filter(self._works, tries), entries)

    def _with_sides(self, entries: Entries, odd: set[int], sides: tuple[int, int]) -> Entries:
        """The same with these sides of pictures in place of odd ones, and of those that nobody has."""
        changed = entries
        for leaf in leaves(entries):
            if len(leaf.shape) >= _IMAGE_RANK and odd & {*leaf.shape[-2:]}:
                pairs = zip(leaf.shape[-2:], sides, strict=True)
                new = tuple(side if size in odd or self.sizes.is_own(size) else size for size, side in pairs)
                changed = put_all(changed, leaf.path, replace(leaf, shape=(*leaf.shape[:-2], *new)).entry)
        return changed

    def _with_larger_pictures(self, entries: Entries) -> Entries:
        """The same with the least usual sides that it runs with in place of those that nobody has."""
        least, *more = values_of("<size>")
        for side in sorted(size for size in more if size > least)[:_MOST_SIDES]:
            changed = entries
            for leaf in leaves(entries):
                if len(leaf.shape) >= _IMAGE_RANK:
                    sides = tuple(side if self.sizes.is_own(size) else size for size in leaf.shape[-2:])
                    changed = put(changed, leaf.path, replace(leaf, shape=(*leaf.shape[:-2], *sides)).entry)
            if changed == entries or self._works(changed):
                return changed
        return entries

    def shown(self, entries: Any) -> Any:
        """The same with usual sizes, whether or not the model runs with them."""
        changed = entries
        for leaf in leaves(entries):
            changed = put(changed, leaf.path, self._usual(leaf, entries).entry)
        return changed

    def _usual(self, leaf: Leaf, entries: Any) -> Leaf:
        return self.sizes.usual(leaf, self._rows(entries), leaves(entries))

    def _rows(self, entries: Any) -> int:
        """How many rows there usually are: nodes of a graph, steps of one sequence, or one."""
        has_edges = any(each.shape == (2, self.sizes.batch) and each.dtype == "int64" for each in leaves(entries))
        if has_edges or self._is_graph or "edge_" in repr(entries):
            return NODES
        return values_of("<length>")[0] if is_sequence(entries) else 1


def is_sequence(entries: Entries) -> bool:
    """Whether the inputs are sequences of ids without a batch."""
    every = [*leaves(entries)]
    roles = [role_of(str(leaf.path[-1])) if leaf.path else None for leaf in every]
    are_ids = all(role is not None and role.name == "ids" for role in roles)
    return bool(every) and are_ids and all(len(leaf.shape) == 1 and leaf.dtype == "int64" for leaf in every)


NAMED = "sizes that its name tells, and arguments of the constructor"
"""Why inputs are what they are."""

_WIDTH = re.compile(r"(?P<word>[a-z]+?)s?_?(dims?|size|width|features?)")
_LENGTH = re.compile(r"(seq|sequence|context|input|window|history|lookback)_?(len|length|size|steps|window)|lookback")
_SERIES_RANK = 3
_SQUARE = 2
_LEAST_WORD = 3
_MOST_PASSES = 4


def as_named(entries: Entries, works: Callable[[Entries], bool]) -> Entries:
    """The same with sizes that names ask for, if a model runs with them.

    Args:
        entries: With which it runs.
        works: Runs it with others.
    """
    return next(filter(works, itertools.islice(with_named_sizes(entries), _MOST_PASSES)), entries)


def with_named_sizes(entries: Entries) -> Iterator[Entries]:
    """The same with sizes that names ask for, likeliest first; nothing where they have them already."""
    yield from _squares(entries)
    yield from _widths(entries)
    yield from _lengths(entries)


def _squares(entries: Entries) -> Iterator[Entries]:
    for leaf in leaves(entries):
        role = role_of(_name(leaf.path))
        if role and role.name == "adjacency" and len(leaf.shape) >= _SQUARE and leaf.dtype == "float32":
            rows, columns = leaf.shape[-2:]
            if rows != columns:
                yield _everywhere(entries, columns, rows)
                yield _everywhere(entries, rows, columns)


def _everywhere(entries: Entries, old: int, new: int) -> Entries:
    for leaf in [*leaves(entries)]:
        sizes = tuple(new if size == old else size for size in leaf.shape)
        entries = put_all(entries, leaf.path, replace(leaf, shape=sizes).entry)
    return entries


def _widths(entries: Entries) -> Iterator[Entries]:
    """Widths by the arguments of the constructor; what one input gains, another one may lose."""
    rows = [leaf for leaf in leaves(entries) if leaf.dtype == "float32" and 1 < len(leaf.shape) < _IMAGE_RANK]
    named = {leaf.path: width for leaf in rows if (width := _argument_width(leaf)) and width not in leaf.shape}
    if not named:
        return
    changed, more = entries, 0
    for leaf in rows:
        if leaf.path in named:
            changed = _with_width(changed, leaf, named[leaf.path])
            more += named[leaf.path] - leaf.shape[-1]
    yield changed
    others = [
        leaf for leaf in rows if leaf.path not in named and leaf.shape[-1] - more in constructor_numbers().values()
    ]
    for leaf in others if more else ():
        yield _with_width(changed, leaf, leaf.shape[-1] - more)


def _lengths(entries: Entries) -> Iterator[Entries]:
    """Lengths of series by the argument that says it: ``seq_len``, where some other length was found."""
    numbers = constructor_numbers()
    length = next((number for name, number in numbers.items() if _LENGTH.fullmatch(name.lower())), 0)
    series = [leaf for leaf in leaves(entries) if leaf.dtype == "float32" and len(leaf.shape) == _SERIES_RANK]
    if not length or any(length in leaf.shape for leaf in leaves(entries)):
        return
    open_ = {size: None for leaf in series for size in leaf.shape[1:] if size > 1 and size not in numbers.values()}
    for size in open_:
        if all(leaf.shape.count(size) < _SQUARE for leaf in series):
            yield _everywhere(entries, size, length)


def _with_width(entries: Entries, leaf: Leaf, width: int) -> Entries:
    changed: Entries = put_all(entries, leaf.path, leaf.sized(len(leaf.shape) - 1, width).entry)
    return changed


def _argument_width(leaf: Leaf) -> int | None:
    """The argument that goes by the name of an input: ``obs_dim`` of ``obs`` and ``observation``."""
    name = _name(leaf.path).lower()
    first = name.partition("_")[0]
    for argument, number in constructor_numbers().items():
        match = _WIDTH.fullmatch(argument.lower())
        word = match["word"] if match else ""
        if word and (
            word.rstrip("s") in (name.rstrip("s"), first) or (len(word) >= _LEAST_WORD and name.startswith(word))
        ):
            return number
    return None


def _name(path: Path) -> str:
    return next((key for key in reversed(path) if isinstance(key, str)), "")
