"""CPU time of several things, measured in one run."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

__all__ = ["ROUNDS", "alternating", "as_installed", "in_turns"]

ROUNDS = 9


def alternating(*calls: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Median CPU seconds of each call, measured in turns so that all see the same machine."""
    return [statistics.median(seconds) for seconds in in_turns(*calls, rounds=rounds)]


def in_turns(*calls: Callable[[], object], rounds: int = ROUNDS) -> list[list[float]]:
    """CPU seconds of each call in each round; ratios within a round say most on a machine that has other work."""
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(rounds):
        for call, seconds in zip(calls, times, strict=True):
            start = time.process_time()
            call()
            seconds.append(time.process_time() - start)
    return times


def p95(times: list[float]) -> float:
    """What 95 in 100 of them don't exceed."""
    return sorted(times)[min(len(times) - 1, int(0.95 * len(times)))]


def as_installed() -> dict[str, str]:
    """Environment in which Python keeps what it compiles, as `pip` does: or else every process compiles all anew."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
