"""Which size of which input makes a failing size what it is: found by passes in which one size is twice as large.

A size that a layer refuses is seldom that of an input: parts were joined, flattened, split or convolved before. How it
moves with one size of the inputs tells what that size has to be, without any rule for what lies between. A feature
that moves with the batch shows that an input lacks a dimension.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from modeldiagrams.target.inference.entries import Entries, Leaf, leaves, put, put_all
from modeldiagrams.target.inference.wanted import wanted_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.target.inference.probing import Probed
    from modeldiagrams.target.inference.sizes import Sizes
    from modeldiagrams.target.inference.wanted import Wanted

__all__ = ["Slopes"]

_MOST_GROUPS = 8
"""Passes for one failure."""
_MAX_SIZE = 8192
_MOST_SIDES = 16
_MOST_ENLARGED = 3
_MOST_EXCHANGED = 3
_STEP = 2
_SIDES = 2


@dataclass
class Slopes:
    """Sizes for one failed pass."""

    entries: Entries
    probed: Probed
    sizes: Sizes
    again: Callable[[Entries], Probed | None]
    """Runs a pass that is no try by itself."""

    def __post_init__(self) -> None:
        self._wanted = [*wanted_by(self.probed)]
        self._gaps = [w for w in self._wanted if w.what == "size" and w.got != w.value]

    def solved(self) -> Iterator[Entries]:
        """The entries with a size by which the failing ones fit."""
        free = {size for leaf in leaves(self.entries) for size in leaf.shape if self.sizes.is_own(size)}
        if not self._gaps or {w.got for w in self._gaps} & (free - {self.sizes.batch}):
            return  # such a size is that of an input itself
        moving = [
            (size, places, moved)
            for size, all_places in self._groups()[:_MOST_GROUPS]
            for places in self._parted(size, all_places)
            if (moved := self._moves(size, places))
        ]
        for leaf, first in self._pictures([places for _, places, _ in moving]):
            yield from self._with_sides(leaf, first)
        for size, places, moved in moving:
            for gap, step in moved:
                yield from self._alone(size, places, gap / step * size)
        if not moving:
            yield from self._exchanged()
        yield from self._together([(size, places, moved[0]) for size, places, moved in moving])
        for size, places, _ in moving[:_MOST_ENLARGED]:
            larger = self._sized(places, 4 * size)
            probed = self.again(larger)
            if probed is not None and (probed.error is None or probed.depth > self.probed.depth):
                yield larger

    def _exchanged(self) -> Iterator[Entries]:
        """Two sizes have to keep their sum, for something before: what one of them gains, the other loses."""
        groups = [group for group in self._groups() if group[0] > _STEP][:_MOST_EXCHANGED]
        for (more, first), (less, second) in itertools.permutations(groups, 2):
            changed = replace(self, entries=self._sized(first, more + _STEP))
            for wanted, moved in self._moved(self.again(changed._sized(second, less - _STEP))):  # noqa: SLF001
                step = -(wanted.got - wanted.value) * _STEP / moved
                if step == int(step) and -more < step < less:
                    changed = replace(self, entries=self._sized(first, more + int(step)))
                    yield changed._sized(second, less - int(step))  # noqa: SLF001

    def _moves(self, size: int, places: list[tuple[Leaf, int]]) -> list[tuple[int, int]]:
        """Differences and by how much they change if a size is twice as large."""
        moved = self._moved(self.again(self._sized(places, 2 * size)))
        return [(w.got - w.value, step) for w, step in moved if self.sizes.batch not in (w.got, w.value)]

    def _parted(self, size: int, places: list[tuple[Leaf, int]]) -> list[list[tuple[Leaf, int]]]:
        """Places of a size, those of each input alone if the pass does not get as far with all of them changed."""
        paths = dict.fromkeys(leaf.path for leaf, _ in places)
        if len(paths) < 2 or not self.sizes.is_own(size) or self._moves(size, places):  # noqa: PLR2004
            return [places]
        return [[place for place in places if place[0].path == path] for path in paths]

    def _alone(self, size: int, places: list[tuple[Leaf, int]], less: float) -> Iterator[Entries]:
        target = size - less
        if target == 0:
            yield from (put(self.entries, leaf.path, {"value": None}) for leaf, _ in places[:1])
        elif target == int(target) and 0 < target <= _MAX_SIZE and target != size:
            yield self._sized(places, int(target))

    def _together(self, moving: list[tuple[int, list[tuple[Leaf, int]], tuple[int, int]]]) -> Iterator[Entries]:
        """Several sizes that add up to the failing one share what it has to be."""
        if len(moving) < 2 or len({gap for _, _, (gap, _) in moving}) > 1:  # noqa: PLR2004
            return
        gap = moving[0][2][0]
        slope = sum(step / size for size, _, (_, step) in moving)
        share = (sum(step for _, _, (_, step) in moving) - gap) / slope if slope else 0
        if share >= 1 and share == int(share):
            changed = self
            for _, places, _ in moving:
                changed = replace(self, entries=changed._sized(places, int(share)))
            yield changed.entries

    def _pictures(self, groups: list[list[tuple[Leaf, int]]]) -> Iterator[tuple[Leaf, int]]:
        """Inputs whose height and width both move the failing size, with the dimension of the height."""
        places = {(leaf.path, dimension) for group in groups for leaf, dimension in group}
        for leaf in leaves(self.entries):
            rank = len(leaf.shape)
            for first in (rank - 2, rank - 3):  # channels may be last
                if rank > _SIDES + 1 and {(leaf.path, first), (leaf.path, first + 1)} <= places:
                    yield leaf, first

    def _with_sides(self, leaf: Leaf, first: int) -> Iterator[Entries]:
        """The first usual sides with which it fails no more, or elsewhere."""
        for height, width in self.sizes.sides[:_MOST_SIDES]:
            entries = put_all(self.entries, leaf.path, leaf.sized(first, height).sized(first + 1, width).entry)
            probed = self.again(entries)
            if probed is not None and (probed.error is None or probed.depth > self.probed.depth):
                yield entries
                return

    def lacks_dimension(self) -> bool:
        """Whether a size that should be one of features is one of the batch."""
        batch = self.sizes.batch
        places = [(leaf, 0) for leaf in leaves(self.entries) if leaf.shape[:1] == (batch,)]
        features = [w for w in self._gaps if w.shapes and w.shapes[0][-1:] == (w.got,)]
        if not features or not places:
            return False
        moved = self._moved(self.again(self._sized(places, 2 * batch)))
        return any(wanted in features and more > 0 for wanted, more in moved)

    def _groups(self) -> list[tuple[int, list[tuple[Leaf, int]]]]:
        """Sizes of the inputs that the failing call is about with the places that have them; unknown ones first."""
        about = self.probed.origins(tuple(operand.shape) for operand in self.probed.operands)
        found: dict[int, list[tuple[Leaf, int]]] = {}
        for leaf in leaves(self.entries):
            for dimension, size in enumerate(leaf.shape):
                found.setdefault(size, []).append((leaf, dimension))
        groups = [
            (size, places)
            for size, places in found.items()
            if size not in (self.sizes.batch, 1) and (not about or any(leaf.path in about for leaf, _ in places))
        ]
        return sorted(groups, key=lambda group: not self.sizes.is_own(group[0]))

    def _moved(self, other: Probed | None) -> Iterator[tuple[Wanted, int]]:
        """Sizes that should be others, and by how much the difference is another in another pass."""
        if other is None or other.place != self.probed.place:
            return
        wanted = [*wanted_by(other)]
        if [w.what for w in wanted] != [w.what for w in self._wanted]:
            return
        for before, after in zip(self._wanted, wanted, strict=True):
            moved = (after.got - after.value) - (before.got - before.value)
            if before.what == "size" and before.got != before.value and moved:
                yield before, moved

    def _sized(self, places: list[tuple[Leaf, int]], size: int) -> Entries:
        changed = self.entries
        for leaf, dimension in places:
            current = next(found for found in leaves(changed) if found.path == leaf.path)
            changed = put_all(changed, leaf.path, current.sized(dimension, size).entry)
        return changed
