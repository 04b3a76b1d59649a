"""Limits the passes that a search for inputs may run, and their work.

Everything is counted and nothing is timed: the same inputs are found on every machine and under any load.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from modeldiagrams.tracer.recording.work_limit import Work, work_limited

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ASKING_FOR_VALUES", "Budget"]

ASKING_FOR_VALUES = ("DataDependent", "DynamicOutputShape", "UnsupportedFakeTensor")
"""Parts of the names of what fake tensors raise where a model asks for values."""

_MEAN_WORK = 300
"""Calls and parameters of an average pass."""
_OF_VARIANT = 12
"""Passes with a variant of a model: inputs that fit likely got furthest with the default one."""
_MOST_VARIANTS = 2
_CALLS_OF_PASS = 30_000
"""Calls of PyTorch in one pass."""
_FIRST_OPERATIONS = 5 * 10**11
"""Floating point operations of the first pass with values: it is the likeliest to work."""
_OPERATIONS = 10**11
"""Of all others together."""


@dataclass
class Budget:
    """The passes of all searches for one model: a log of them, and how many are left."""

    max_passes: int = 60
    operations: float = _OPERATIONS
    """Floating point operations that are left for passes with values."""
    lines: list[str] = field(default_factory=list)
    """One for every pass, with its result."""
    work: int = 0
    """Calls and parameters of all passes."""
    real_passes: int = 0
    """Passes with values."""
    failures: Counter[str] = field(default_factory=Counter)
    """What was raised → by how many passes."""

    @property
    def left(self) -> int:
        """How many passes may follow; the first one always may."""
        is_spent = self.work >= self.max_passes * _MEAN_WORK or self.operations < 0
        return 0 if is_spent and self.lines else max(0, self.max_passes - len(self.lines))

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Limit the work of the next pass; the first one, or the first with values, may do the most."""
        is_first = not self.lines or self.lacks_values
        work = Work(_CALLS_OF_PASS, _FIRST_OPERATIONS if is_first else self.operations)
        before = work.operations
        try:
            with work_limited(work):
                yield
        finally:
            self.operations -= before - work.operations

    @property
    def lacks_values(self) -> bool:
        """Whether the first pass ended because the model asks for values: one with them may follow."""
        return len(self.lines) == 1 and any(name in self.lines[0] for name in ASKING_FOR_VALUES)

    @property
    def is_exhausted(self) -> bool:
        """Whether no pass is left."""
        return not self.left

    def without_variants(self) -> Budget:
        """Of the default model, where variants of it may follow."""
        return Budget(self.max_passes - _MOST_VARIANTS * _OF_VARIANT, self.operations)

    def of_variant(self, used: int) -> Budget:
        """Of the next variant, after so many passes that were made."""
        return Budget(max(1, min(_OF_VARIANT, self.max_passes - used)), self.operations)
