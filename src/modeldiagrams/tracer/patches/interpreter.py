"""Settings of Python and of torch's compiler while a trace runs."""

from __future__ import annotations

import contextlib
import gc
import sys
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["compiler_disabled", "interpreter_settings"]

_FRAMES_FACTOR = 4
"""A module call takes up to 3 frames of torch and 4 of ours, so a traced model needs that many times more frames."""
_MAX_FRAMES = 12_000
"""Our upper limit, unless the program has a higher one: twice as many frames overflow a usual stack."""


def compiler_disabled() -> Any:
    """Run compiled functions of the block without the compiler."""
    if "torch._dynamo" not in sys.modules:  # nothing is compiled, and importing it takes seconds
        return contextlib.nullcontext()
    return torch.compiler.set_stance("force_eager")


@contextlib.contextmanager
def interpreter_settings() -> Iterator[None]:
    """Turn garbage collection off and allow deeper recursion.

    A recording is many small objects, none of them garbage. Every module call takes some of our frames in addition to
    its own, and a model that runs without a trace must run in one.
    """
    was_enabled, limit = gc.isenabled(), sys.getrecursionlimit()
    gc.disable()
    sys.setrecursionlimit(max(limit, min(_FRAMES_FACTOR * limit, _MAX_FRAMES)))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if was_enabled:
            gc.enable()
