"""Which size of which input makes a failing size what it is: found by passes in which one size is twice as large.

A size that a layer refuses is seldom that of an input: parts were joined, flattened, split or convolved before. How it
moves with one size of the inputs tells what that size has to be, without any rule for what lies between. A feature
that moves with the batch shows that an input lacks a dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.entries import Leaf, leaves, put, put_all
from modeldiagrams.target.inference.wanted import wanted_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.target.inference.probing import Probed
    from modeldiagrams.target.inference.sizes import Sizes

__all__ = ["Slopes"]

Entries = dict[str | int, Any]
_MOST_GROUPS = 8
"""Passes for one failure."""
_MAX_SIZE = 8192


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
        for size, places in self._groups()[:_MOST_GROUPS]:
            for gap, moved in self._moved(self._sized(places, 2 * size)):
                target = size - gap * size / moved
                if target == 0:
                    yield from (put(self.entries, leaf.path, {"value": None}) for leaf, _ in places[:1])
                elif target == int(target) and 0 < target <= _MAX_SIZE and target != size:
                    yield self._sized(places, int(target))

    def lacks_dimension(self) -> bool:
        """Whether a size that should be one of features is one of the batch."""
        batch = self.sizes.batch
        places = [(leaf, 0) for leaf in leaves(self.entries) if leaf.shape[:1] == (batch,)]
        is_clear = any(w.shapes and batch not in (w.got, w.value) for w in self._gaps)
        return bool(is_clear and places and [*self._moved(self._sized(places, 2 * batch))])

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

    def _moved(self, entries: Entries) -> Iterator[tuple[int, int]]:
        """Differences of sizes that should be equal, and by how much other entries change them."""
        other = self.again(entries)
        if other is None or other.place != self.probed.place:
            return
        wanted = [*wanted_by(other)]
        if [w.what for w in wanted] != [w.what for w in self._wanted]:
            return
        for before, after in zip(self._wanted, wanted, strict=True):
            gap, moved = before.got - before.value, (after.got - after.value) - (before.got - before.value)
            if before.what == "size" and gap and moved and self.sizes.batch not in (before.got, before.value):
                yield gap, moved

    def _sized(self, places: list[tuple[Leaf, int]], size: int) -> Entries:
        changed = self.entries
        for leaf, dimension in places:
            current = next(found for found in leaves(changed) if found.path == leaf.path)
            changed = put_all(changed, leaf.path, current.sized(dimension, size).entry)
        return changed
