"""CPU time of several things, measured in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

__all__ = ["ROUNDS", "alternating"]

ROUNDS = 9


def alternating(*calls: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Median CPU seconds of each call, measured in turns so that all see the same machine."""
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(rounds):
        for call, seconds in zip(calls, times, strict=True):
            start = time.process_time()
            call()
            seconds.append(time.process_time() - start)
    return [statistics.median(seconds) for seconds in times]
