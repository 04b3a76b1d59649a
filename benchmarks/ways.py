"""Measures how much longer a trace takes because it notes which ways the model's code takes."""

from __future__ import annotations

import contextlib
import sys
from typing import Any
from unittest import mock

import torch

from benchmarks.measure import in_turns
from benchmarks.models import prepared
from modeldiagrams.tracer import forward_pass, trace

MODELS = ("ResNet-50", "GPT-2")
TARGET = 1.10
_ROUNDS = 15
"""Of which the fastest count: the difference is small, and other programs only slow a round down."""


class _NoWays:
    """Stands in for `PassWays`."""

    watch = None

    def observing(self, _: Any) -> Any:
        return contextlib.nullcontext()

    def add_to(self, graph: Any, *_: Any) -> Any:
        return graph

    def quiet(self) -> frozenset[Any]:
        return frozenset()

    def release(self) -> None:
        pass


def main() -> None:
    """Print one row per model and mode."""
    torch.set_num_threads(1)
    version = ".".join(map(str, sys.version_info[:2]))
    print(f"\nways: CPU time of a trace with them over one without, Python {version}: fastest of {_ROUNDS} rounds")
    print(f"{'model':12}{'mode':6}{'ways':>6}{'without ms':>12}{'with ms':>10}{'ratio':>8}{'target':>8}")
    for name in MODELS:
        for mode in ("fake", "real"):
            print(_row(name, mode))


def _row(name: str, mode: Any) -> str:
    case = prepared(name)

    def traced() -> Any:
        with torch.no_grad():
            return trace(case.model, (), case.inputs, mode=mode)

    def without() -> Any:
        with mock.patch.object(forward_pass, "PassWays", _NoWays):
            return traced()

    ways = len(traced().ways)
    plain, with_ways = in_turns(without, traced, rounds=_ROUNDS)
    ratio = min(with_ways) / min(plain)
    result = "met" if ratio <= TARGET else "MISSED"
    times = f"{min(plain) * 1e3:12.0f}{min(with_ways) * 1e3:10.0f}"
    return f"{name:12}{mode:6}{ways:6}{times}{ratio:8.3f}{TARGET:8.2f} {result}"
