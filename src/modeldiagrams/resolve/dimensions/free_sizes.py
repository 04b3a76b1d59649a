"""Finds which sizes of a model's inputs may change, and runs it at several."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from modeldiagrams.resolve.dimensions.fitting import SMALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.resolve.dimensions.pass_numbers import PassNumbers
    from modeldiagrams.resolve.dimensions.sized_passes import SizedPasses, Sizes

__all__ = ["FreeSizes"]

_FACTORS = [*itertools.permutations((2, 3, 5))]
"""By how much each name grows in each pass. They differ, so that products of names can be told apart."""
_OF_IMAGES, _OF_SOUNDS = 448, 26880
"""Multiples of the steps of usual layers: 64 and 7 for images, and also 256, 320, 384 for sounds."""
_IMAGE, _SOUND = 28, 1000
"""The least sizes that are sides of images, and lengths of sounds."""
_RESERVE = 4
"""Passes that are kept for the sizes that are free."""
_NOT_TRIED = "not tried, as this model takes long; write `dims` to try it"


class FreeSizes:
    """The sizes that may change."""

    def __init__(self, passes: SizedPasses, fixed: dict[str, str]) -> None:
        """Begin with all sizes.

        Args:
            passes: Runs the model.
            fixed: Name of a size → why it stays; more are added.
        """
        self.passes, self.fixed = passes, fixed
        self.steps = {
            name: 1 if size <= SMALL else size for name, size in passes.base.items() if name not in self.fixed
        }
        """By how much each free size changes."""
        self._not_tied: set[tuple[str, str]] = set()

    @property
    def names(self) -> list[str]:
        """The free sizes."""
        return [name for name in self.passes.base if name in self.steps]

    def points(self, n_points: int) -> list[tuple[Sizes, PassNumbers]]:
        """Sizes and numbers of passes that moved all free sizes, after that shown; only that if none is free.

        Args:
            n_points: How many, up to three.

        Raises:
            BudgetSpentError: if that takes too many passes.
        """
        base = self.passes.base
        found: list[tuple[Sizes, PassNumbers]] = [(base, self.passes.numbers)]
        while len(found) <= n_points and self.names:
            sizes = self._at(len(found) - 1)
            numbers = self.passes.run(sizes)
            if not isinstance(numbers, str):
                found.append((self.passes.complete(sizes), numbers))
            elif len(found) > 1 or not self.passes.is_special(sizes, self._at(1)):
                self._find_refused(sizes, numbers)
                found = [each for each in found if all(each[0][name] == base[name] for name in self.fixed)]
        return found

    def with_steps(self, *, usual: bool) -> FreeSizes:
        """The same, but large sizes move by multiples of themselves, or of usual steps of layers: 299, 747, 1195."""
        other = FreeSizes(self.passes, dict(self.fixed))
        other.steps = dict(self.steps)
        for name, step in self.steps.items():
            base = self.passes.base[name]
            multiple = _OF_SOUNDS if base >= _SOUND else _OF_IMAGES
            if base >= _IMAGE and step in {base, multiple}:
                other.steps[name] = multiple if usual else base
        return other

    def suits_layers(self) -> bool:
        """Whether large sizes are themselves multiples of most steps of layers, such as 32 for images."""
        steps = {name: step for name, step in self.steps.items() if step == self.passes.base[name] >= _IMAGE}
        return all(step % (320 if step >= _SOUND else 32) == 0 for step in steps.values())

    def _at(self, point: int) -> dict[str, int]:
        return {
            name: self.passes.base[name] + (_FACTORS[i % len(_FACTORS)][point] - 1) * self.steps[name]
            for i, name in enumerate(self.names)
        }

    def _find_refused(self, sizes: Sizes, why: str) -> None:
        """Find the sizes that may not be these, and let them change by less, or not at all."""
        refused: dict[str, str] = {}
        for name in self.names:
            alone: PassNumbers | str = why if len(self.names) == 1 else _NOT_TRIED
            if len(self.names) > 1 and (not refused or self.passes.can_spare(_RESERVE)):
                alone = self.passes.run({name: sizes[name]})
            if isinstance(alone, str):
                refused[name] = alone
        if not refused:  # only together, which no name explains
            name = self.names[-1]
            refused[name] = why
            del self.steps[name]
        for name, message in refused.items():
            if name in self.steps and not self._shorten(name):
                del self.steps[name]
            if name not in self.steps:
                self.fixed[name] = message
        self._tie()

    def _shorten(self, name: str) -> bool:
        """Find another step for a size that may not grow so much; whether there is one: down if it is large."""
        base = self.passes.base[name]
        step = -(base // 8) if base > 2 * SMALL else 1
        if self.steps[name] == step or not self.passes.can_spare(_RESERVE):
            return False
        self.steps[name] = step
        return not isinstance(self.passes.run({name: base + (max(_FACTORS[0]) - 1) * step}), str)

    def _tie(self) -> None:
        """Let fixed sizes that are equal change together, if the model runs with that."""
        base = self.passes.base
        for one, other in itertools.combinations([name for name in base if name in self.fixed], 2):
            is_seen = {one, other} & self.passes.tied.keys() or (one, other) in self._not_tied
            if base[one] != base[other] or is_seen or not self.passes.can_spare(_RESERVE):
                continue
            self._not_tied.add((one, other))
            step = 1 if base[one] <= SMALL else base[one]
            self.passes.tied[other] = one
            if isinstance(self.passes.run({one: base[one] + step}), str):
                del self.passes.tied[other]
            else:
                self.steps[one] = step
                del self.fixed[one], self.fixed[other]
                return


def choose_unseen(base: int, multiple: int, seen: Sequence[int]) -> int:
    """The size that is next after the base, a multiple of a number away, and not among those seen."""
    return next(size for k in itertools.count(1) if (size := base + k * multiple) not in seen)
