"""What a trace costs: CPU time over that of the plain forward, alternating, medians, in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

import modeldiagrams
from benchmarks.models import CASES, prepared

ROUNDS = 7


def main() -> None:
    """Print one row per model."""
    torch.set_num_threads(1)
    print(f"\ntrace, real mode: median of {ROUNDS} alternating rounds, CPU time, one thread")
    print(f"{'model':26}{'nodes':>7}{'forward ms':>12}{'trace ms':>10}{'ratio':>7}{'µs/node':>9}")
    for name in CASES:
        case = prepared(name)

        def forward(case: object = case) -> None:
            with torch.no_grad():
                case.model(**case.inputs)  # type: ignore[attr-defined]

        def trace(case: object = case) -> modeldiagrams.Graph:
            with torch.no_grad():
                return modeldiagrams.trace(case.model, (), case.inputs, mode="real")  # type: ignore[attr-defined]

        nodes = len(trace().nodes)
        plain, traced = alternating(forward, trace)
        per_node = (traced - plain) / nodes * 1e6
        print(f"{name:26}{nodes:7}{plain * 1e3:12.1f}{traced * 1e3:10.1f}{traced / plain:7.2f}{per_node:9.0f}")


def alternating(one: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Median CPU seconds of two calls, measured in turns so that both see the same machine."""
    times: tuple[list[float], list[float]] = ([], [])
    one()
    for _ in range(ROUNDS):
        for call, seconds in zip((one, other), times, strict=True):
            start = time.process_time()
            call()
            seconds.append(time.process_time() - start)
    return statistics.median(times[0]), statistics.median(times[1])
