"""What finding the inputs of one model may cost: tries and processor time, of all rules and variants together."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

__all__ = ["ASKING_FOR_VALUES", "Budget"]

ASKING_FOR_VALUES = ("DataDependent", "DynamicOutputShape", "UnsupportedFakeTensor")
"""Parts of the names of what fake tensors raise where a model asks for values."""

_MEAN_WORK = 300
"""Calls and parameters of an average pass: a few seconds in all. Unlike a time limit, the same on every machine."""
_OF_VARIANT = 12
"""Passes with a variant of a model: inputs that fit are likely among those that got furthest with the default one."""
_MOST_VARIANTS = 2
_FIRST_SECONDS = 10.0
_LEAST_SECONDS = 1.0


@dataclass
class Budget:
    """The passes of all searches for one model: a log of them, and how many are left."""

    max_passes: int = 60
    seconds: float = 6.0
    """Of processor time, after which no other pass begins: arguments may have cost four before."""
    lines: list[str] = field(default_factory=list)
    """One for every pass, with its result."""
    work: int = 0
    """Calls and parameters of all passes."""
    real_passes: int = 0
    """Passes with values."""
    failures: Counter[str] = field(default_factory=Counter)
    """What was raised → by how many passes."""
    started: float = field(default_factory=time.process_time)

    @property
    def left(self) -> int:
        """How many passes may follow; the first one always may."""
        is_spent = self.work >= self.max_passes * _MEAN_WORK or self._spent() > self.seconds
        return 0 if is_spent and self.lines else max(0, self.max_passes - len(self.lines))

    @property
    def seconds_of_pass(self) -> float:
        """Processor time after which the next pass ends: the first one may have all, as it is the likeliest to work."""
        is_first = not self.lines or self.lacks_values
        return _FIRST_SECONDS if is_first else max(_LEAST_SECONDS, self.seconds - self._spent())

    @property
    def lacks_values(self) -> bool:
        """Whether the first pass ended because the model asks for values: one with them may follow, however late."""
        return len(self.lines) == 1 and any(name in self.lines[0] for name in ASKING_FOR_VALUES)

    @property
    def is_exhausted(self) -> bool:
        """Whether no pass is left."""
        return not self.left

    def _spent(self) -> float:
        return time.process_time() - self.started

    def without_variants(self) -> Budget:
        """Of the default model, where variants of it may follow."""
        return Budget(self.max_passes - _MOST_VARIANTS * _OF_VARIANT, self.seconds)

    def of_variant(self, used: int) -> Budget:
        """Of the next variant, after so many passes that were made."""
        left = max(1, min(_OF_VARIANT, self.max_passes - used))
        return Budget(left, max(0.0, self.seconds - self._spent()))
