"""Measures the CPU time of several functions in one run."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

__all__ = ["ROUNDS", "alternating", "as_installed", "in_turns"]

ROUNDS = 9


def alternating(*calls: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Return the median CPU seconds of each call, measured alternately so that all see the same machine."""
    return [statistics.median(seconds) for seconds in in_turns(*calls, rounds=rounds)]


def in_turns(*calls: Callable[[], object], rounds: int = ROUNDS) -> list[list[float]]:
    """Return the CPU seconds of each call in each round; ratios within a round are most reliable on a busy machine."""
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
    """Return the 95th percentile."""
    return sorted(times)[min(len(times) - 1, int(0.95 * len(times)))]


def as_installed() -> dict[str, str]:
    """Return an environment in which Python keeps its bytecode, so that not every process compiles everything."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
