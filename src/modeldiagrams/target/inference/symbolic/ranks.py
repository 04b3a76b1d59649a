"""Ranks of symbolic tensors in the model's own code: what they are compared with may be what they are."""

from __future__ import annotations

import operator
import re
import sys
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.demands import ranks_demanded
from modeldiagrams.target.inference.symbolic.shapes import ClashError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Rank", "rank_in_pattern"]

_USUAL_RANK, _MOST_RANK = 3, 6


class Rank(int):
    """How many dimensions a tensor of unknown shape has."""

    tensor: Any

    @classmethod
    def of(cls, tensor: Any) -> Any:
        """Its rank, if it is known."""
        rank = tensor.known.rank
        if rank is not None:
            return rank
        made = cls(max(_USUAL_RANK, len(tensor.known.dims())))
        made.tensor = tensor
        return made

    @classmethod
    def counted(cls, tensor: Any, frame: Any) -> int:
        """The same as the number of sizes, which forgets whose it is: ``assert len(x.shape) == 4``."""
        rank = cls.of(tensor)
        return int(rank) if type(rank) is int else (rank._demanded(frame) or int(rank))  # noqa: SLF001

    def __eq__(self, other: object) -> bool:
        return self._is_told(other, sys._getframe(1))

    def __ne__(self, other: object) -> bool:
        return not self._is_told(other, sys._getframe(1))

    __hash__ = int.__hash__

    def _is_told(self, other: Any, frame: Any) -> bool:
        """Whether it is another one, or becomes so where code raises for others."""
        rank = self._demanded(frame)
        return self._is_likely(other) and self._is(other) if rank is None else rank == other

    def __lt__(self, other: Any) -> bool:
        return self._compared(operator.lt, other, sys._getframe(1))

    def __le__(self, other: Any) -> bool:
        return self._compared(operator.le, other, sys._getframe(1))

    def __gt__(self, other: Any) -> bool:
        return self._compared(operator.gt, other, sys._getframe(1))

    def __ge__(self, other: Any) -> bool:
        return self._compared(operator.ge, other, sys._getframe(1))

    def _compared(self, how: Callable[[int, Any], bool], other: Any, frame: Any) -> bool:
        rank = self._demanded(frame)
        return how(int(self) if rank is None else rank, other)

    def _demanded(self, frame: Any) -> int | None:
        """A rank for which the code that a frame runs doesn't raise; None where it goes on with any."""
        suits, least = ranks_demanded(frame, self.tensor), len(self.tensor.known.dims())
        allowed = [rank for rank in range(least, _MOST_RANK + 1) if suits(rank)] if suits else []
        if not suits or not allowed:
            return None
        if len(allowed) == 1:
            self._is(allowed[0])
        self.tensor.reading.ranks.append((self.tensor.known, suits))
        return int(self) if int(self) in allowed else allowed[0]

    def _is_likely(self, other: Any) -> bool:
        """Whether code asks for as many dimensions as are known already, rows and steps and features."""
        known = self.tensor.known.end()
        are_told = len(known.dims()) == other and len(known.front) > 1 and bool(known.back)
        return bool(are_told and self.tensor.reading.guesses.is_usual())

    def _is(self, other: Any) -> bool:
        try:
            self.tensor.known.of_rank(int(other))
        except ClashError:
            return False
        return True


def rank_in_pattern(tensor: Any, frame: Any) -> None:
    """Note the rank that a pattern of einops has: ``rearrange(x, "b (h w) c -> b c h w")``."""
    if not str(frame.f_globals.get("__name__")).startswith("einops"):
        return
    names = frame.f_locals
    pattern = names.get("pattern", getattr(names.get("self"), "pattern", None))
    left = pattern.partition("->")[0] if isinstance(pattern, str) else "..."
    if not re.search(r"\.\.\.|…|\*", left):  # a star stands for any number of dimensions that are packed
        with tensor.reading.noting():
            tensor.known.of_rank(len(re.sub(r"\([^)]*\)", "g", left).split()))
