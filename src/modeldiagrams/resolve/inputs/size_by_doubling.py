"""Finds the input size that determines a failing size, by passes in which one size is doubled.

A size that a layer refuses is seldom that of an input: parts were joined, flattened, split or convolved before. How it
moves with one size of the inputs tells what that size has to be, without any rule for what lies between. A feature
that moves with the batch shows that an input lacks a dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modeldiagrams.resolve.inputs.expected_operands import find_expectations
from modeldiagrams.resolve.values.input_entries import Entries, Leaf, list_leaves, put_entry, put_entry_everywhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from modeldiagrams.resolve.inputs.expected_operands import Expectation
    from modeldiagrams.resolve.inputs.probe import Probed
    from modeldiagrams.resolve.inputs.sizes import Sizes

    _Moving = tuple[int, list[tuple[Leaf, int]], list[tuple[Expectation, int]]]
    "A size, its places, and what moves with it."

__all__ = ["DoubledSizes"]

_MOST_GROUPS = 8
"""Passes for one failure."""
_MAX_SIZE = 8192
_MOST_SIDES = 16
_SIDES = 2


@dataclass
class DoubledSizes:
    """Sizes that would mend one failed pass."""

    entries: Entries
    probed: Probed
    sizes: Sizes
    again: Callable[[Entries], Probed | None]
    """Runs a pass that is no try by itself."""

    def __post_init__(self) -> None:
        self._expected = [*find_expectations(self.probed)]
        self._gaps = [w for w in self._expected if w.what == "size" and w.got != w.value]
        self._further: list[Entries] = []  # with sizes that are twice as large, and it fails no more, or elsewhere

    def solved(self) -> Iterator[Entries]:
        """The entries with a size by which the failing ones fit."""
        free = {size for leaf in list_leaves(self.entries) for size in leaf.shape if self.sizes.is_own(size)}
        if not self._gaps or {w.got for w in self._gaps} & (free - {self.sizes.batch}):
            return  # such a size is that of an input itself
        moving = [
            (size, places, moved)
            for size, places in self._groups()[:_MOST_GROUPS]
            if (moved := self._moves(size, places))
        ]
        for leaf, first in self._pictures([places for _, places, _ in moving]):
            area = _area_of(leaf, first, moving)
            if len(leaf.shape) > _SIDES + 1:
                yield from self._with_sides(leaf, first, self._sides(area))
        for size, places, moved in moving:
            for expected, step in moved:
                yield from self._alone(size, places, (expected.got - expected.value) / step * size)
        if not moving:
            yield from self._further

    def _moves(self, size: int, places: list[tuple[Leaf, int]]) -> list[tuple[Expectation, int]]:
        """Sizes that should be others, and by how much the difference changes if a size is twice as large."""
        doubled = self._sized(places, 2 * size)
        probed = self.again(doubled)
        if self._gets_further(probed):
            self._further.append(doubled)
        moved = self._moved(probed)
        return [(w, step) for w, step in moved if self.sizes.batch not in (w.got, w.value)]

    def _alone(self, size: int, places: list[tuple[Leaf, int]], less: float) -> Iterator[Entries]:
        target = size - less
        if target == 0:
            yield from (put_entry(self.entries, leaf.path, {"value": None}) for leaf, _ in places[:1])
        elif target == int(target) and 0 < target <= _MAX_SIZE and target != size:
            yield self._sized(places, int(target))

    def _pictures(self, groups: list[list[tuple[Leaf, int]]]) -> Iterator[tuple[Leaf, int]]:
        """Inputs whose height and width both move the failing size, with the dimension of the height."""
        places = {(leaf.path, dimension) for group in groups for leaf, dimension in group}
        for leaf in list_leaves(self.entries):
            rank = len(leaf.shape)
            for first in (rank - 2, rank - 3):  # channels may be last
                if first > 0 and {(leaf.path, first), (leaf.path, first + 1)} <= places:
                    yield leaf, first

    def _sides(self, area: Area | None) -> list[tuple[int, int]]:
        """Usual sides, those first that make the failing size about what it has to be, and then others that do."""
        usual = self.sizes.sides[:_MOST_SIDES]
        near = [sides for sides in usual if area is None or area.is_near(*sides)]
        return [*dict.fromkeys([*near, *(area.squares() if area else ()), *usual])]

    def _with_sides(self, leaf: Leaf, first: int, sides: Iterable[tuple[int, int]]) -> Iterator[Entries]:
        """The first sides with which it fails no more, or elsewhere."""
        for height, width in sides:
            entries = put_entry_everywhere(
                self.entries, leaf.path, leaf.sized(first, height).sized(first + 1, width).entry
            )
            if self._gets_further(self.again(entries)):
                yield entries
                return

    def _gets_further(self, probed: Probed | None) -> bool:
        return probed is not None and (probed.error is None or probed.depth > self.probed.depth)

    def lacks_dimension(self) -> bool:
        """Whether a size that should be one of features is one of the batch."""
        batch = self.sizes.batch
        places = [(leaf, 0) for leaf in list_leaves(self.entries) if leaf.shape[:1] == (batch,)]
        features = [w for w in self._gaps if w.shapes and w.shapes[0][-1:] == (w.got,)]
        if not features or not places:
            return False
        moved = self._moved(self.again(self._sized(places, 2 * batch)))
        return any(expected in features and more > 0 for expected, more in moved)

    def _groups(self) -> list[tuple[int, list[tuple[Leaf, int]]]]:
        """Sizes of the inputs that the failing call is about with the places that have them; unknown ones first."""
        about = self.probed.origins(tuple(operand.shape) for operand in self.probed.operands)
        found: dict[int, list[tuple[Leaf, int]]] = {}
        for leaf in list_leaves(self.entries):
            for dimension, size in enumerate(leaf.shape):
                found.setdefault(size, []).append((leaf, dimension))
        groups = [
            (size, places)
            for size, places in found.items()
            if size not in (self.sizes.batch, 1) and (not about or any(leaf.path in about for leaf, _ in places))
        ]
        return sorted(groups, key=lambda group: not self.sizes.is_own(group[0]))

    def _moved(self, other: Probed | None) -> Iterator[tuple[Expectation, int]]:
        """Sizes that should be others, and by how much the difference is another in another pass."""
        if other is None or other.place != self.probed.place:
            return
        expected = [*find_expectations(other)]
        pairs = [*zip(self._expected, expected, strict=False)]
        # which sizes divide others is a matter of both
        if [each.what for each in expected] != [each.what for each in self._expected]:
            pairs = [pair for pair in pairs[:1] if pair[0].value == pair[1].value]
        for before, after in pairs:
            moved = (after.got - after.value) - (before.got - before.value)
            if before.what == "size" and before.got != before.value and moved:
                yield before, moved

    def _sized(self, places: list[tuple[Leaf, int]], size: int) -> Entries:
        changed = self.entries
        for leaf, dimension in places:
            current = next(found for found in list_leaves(changed) if found.path == leaf.path)
            changed = put_entry_everywhere(changed, leaf.path, current.sized(dimension, size).entry)
        return changed


def _area_of(leaf: Leaf, first: int, moving: Sequence[_Moving]) -> Area | None:
    """How the failing size depends on height and width of an input; None if they can't be told apart."""
    growth = {
        dimension: moved[0][1] / moved[0][0].got / size
        for size, places, moved in moving
        for each, dimension in places
        if len(places) == 1 and each.path == leaf.path and moved[0][0].got
    }
    if not {first, first + 1} <= growth.keys():
        return None
    place = leaf.path, first
    expected = next(moved[0][0] for _, places, moved in moving if (places[0][0].path, places[0][1]) == place)
    sides = (leaf.shape[first], leaf.shape[first + 1])
    return Area(sides, (growth[first], growth[first + 1]), expected.value / expected.got)


_LEAST, _MOST = 8, 1024
_ROUND = (16, 8, 4, 2, 1)
"""Sides are likelier to be multiples of these; what layers round down leaves a choice."""
_NEAR_SIDE = 8
_FACTOR = 3
"""By which an estimate may be wrong."""


@dataclass(frozen=True)
class Area:
    """How a failing size depends on height and width of an input."""

    sides: tuple[int, int]
    """Sides in the pass that failed."""
    growth: tuple[float, float]
    """By which share of itself the size grows for each row, and for each column."""
    share: float
    """Of itself that the size should be."""

    def is_near(self, height: int, width: int) -> bool:
        """Whether these sides make it about what it should be."""
        return self.share / _FACTOR <= self._product(height, width) <= self.share * _FACTOR

    def squares(self) -> Iterator[tuple[int, int]]:
        """Equal sides, round numbers first."""
        possible = [n for n in range(_LEAST, _MOST) if self._product(n, n) > 0]
        best = min(possible, key=lambda n: abs(self._product(n, n) - self.share), default=0)
        for step in _ROUND if best else ():
            for side in (step * round(best / step), step * (best // step + 1)):
                if abs(side - best) <= _NEAR_SIDE and side >= _LEAST:
                    yield side, side

    def _share(self, side: int, axis: int) -> float:
        """Which share of the failing size is left with another height or width."""
        return 1 + self.growth[axis] * (side - self.sides[axis])

    def _product(self, height: int, width: int) -> float:
        rows, columns = self._share(height, 0), self._share(width, 1)
        return rows * columns if min(rows, columns) > 0 else 0
