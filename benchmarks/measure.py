"""CPU time of two things, measured in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

__all__ = ["ROUNDS", "alternating"]

ROUNDS = 9


def alternating(one: Callable[[], object], other: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """Median CPU seconds of two calls, measured in turns so that both see the same machine."""
    times: tuple[list[float], list[float]] = ([], [])
    one()
    other()
    for _ in range(rounds):
        for call, seconds in zip((one, other), times, strict=True):
            start = time.process_time()
            call()
            seconds.append(time.process_time() - start)
    return statistics.median(times[0]), statistics.median(times[1])
