"""What a reading takes for granted where code has two meanings; if two uses clash, another reading takes the other.

``mask[:, :, None]`` may be a matrix with a new last dimension, or leave others behind that one; ``x * mask`` may be of
the same size, or the mask has one of 1. The likelier is assumed, and what clashes names the guesses that it came from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Guesses"]


@dataclass
class Guesses:
    """The guesses of one reading, by number in the order in which they are made."""

    others: frozenset[int] = frozenset()
    """Of which this reading takes the less likely meaning."""
    count: int = 0
    clashes: int = 0
    suspects: dict[int, None] = field(default_factory=dict)
    """What clashed may come from these."""
    _of_ranks: list[int] = field(default_factory=list)

    def is_usual(self, *about: Any) -> bool:
        """Make a guess: about dimensions that may be the same, or about a rank."""
        number = self.count
        self.count += 1
        if not about:
            self._of_ranks.append(number)
        for dim in about:
            dim.end().guesses |= {number}
        return number not in self.others

    @property
    def may_be_wrong(self) -> bool:
        """Whether something that failed may come from a guess."""
        return bool(self.suspects or self._of_ranks)

    def clash(self, come_from: frozenset[int]) -> None:
        """Note that two uses don't suit each other, which come from these guesses; from those of ranks, if none."""
        self.clashes += 1
        self.suspects |= dict.fromkeys(sorted(come_from) or self._of_ranks)
