"""Restores the generators of random numbers that torch, Python and numpy have for everyone."""

from __future__ import annotations

import contextlib
import random
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["random_state_restored"]


@contextlib.contextmanager
def random_state_restored() -> Iterator[None]:
    """Restore the random state at the end of the block; torch and numpy are left alone if nobody has imported them."""
    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy.random")
    states: list[tuple[Any, Any]] = [(random.setstate, random.getstate())]
    if torch:
        states.append((torch.set_rng_state, torch.get_rng_state()))
        if torch.cuda.is_initialized():
            states.append((torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))
    if numpy:
        states.append((numpy.set_state, numpy.get_state()))
    try:
        yield
    finally:
        for restore, state in states:
            restore(state)
