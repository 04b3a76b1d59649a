"""Height and width whose product, after convolutions and pooling, is the size that a layer wants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Area"]

_LEAST, _MOST = 8, 1024
_ROUND = (16, 8, 4, 2, 1)
"""Sides are likelier to be multiples of these; what layers round down leaves a choice."""
_NEAR = 8
_FACTOR = 3
"""By which an estimate may be wrong."""


@dataclass(frozen=True)
class Area:
    """How a failing size moves with the height and the width of an input."""

    sides: tuple[int, int]
    """Those of the pass that failed."""
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
                if abs(side - best) <= _NEAR and side >= _LEAST:
                    yield side, side

    def beside(self, known: int, axis: int, measured: tuple[int, float] | None = None) -> int:
        """The other side where one is known; 0 if there is none.

        Args:
            known: One side.
            axis: 0 if it is the height.
            measured: Another side beside the known one, and the size that this gave, as a share of the failing one.
        """
        other = 1 - axis
        share = self._share(known, axis)
        if measured and (there := self._share(measured[0], other)) > 0:
            share = measured[1] / there
        found = self.sides[other] + round((self.share / share - 1) / self.growth[other]) if share > 0 else 0
        return found if known >= _LEAST and 0 < found <= _MOST else 0

    def _share(self, side: int, axis: int) -> float:
        """Which share of the failing size is left with another height or width."""
        return 1 + self.growth[axis] * (side - self.sides[axis])

    def _product(self, height: int, width: int) -> float:
        rows, columns = self._share(height, 0), self._share(width, 1)
        return rows * columns if min(rows, columns) > 0 else 0
