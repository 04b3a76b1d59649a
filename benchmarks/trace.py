# ruff: noqa: S603 - runs this project's own modules
"""Measures the CPU time of a trace relative to the plain forward: medians of alternating rounds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from benchmarks.measure import ROUNDS, alternating
from benchmarks.models import CASES, prepared
from modeldiagrams.tracer import trace

ROOT = Path(__file__).parent.parent
PEERS = ("torchvista", "torchview", "torchlens")
PEERS_PYTHON = os.environ.get("MODELDIAGRAMS_PEERS_PYTHON", sys.executable)
"""A Python with torch, transformers and other tools; missing tools are left out."""

TARGETS = {"ResNet-50": 1.25, "BERT-base": 1.25, "GPT-2": 1.25, "Llama, 48 toy layers": 7.0}
"""The maximum ratio to the plain forward, without costs."""
WITH_COSTS = {"ResNet-50": 1.25, "BERT-base": 1.12, "GPT-2": 1.12, "Llama, 48 toy layers": 7.0}
"""The same with costs, as on pages."""
GIANT_TARGET, GIANT_BYTES = 3.0, 10**9


def main() -> None:
    """Print one row per model."""
    _check_peers_python()
    torch.set_num_threads(1)
    print(f"\ntrace, real mode, over plain forward: median of {ROUNDS} alternating rounds, CPU time, one thread")
    columns = ["nodes", "forward ms", "ratio", "target", "", "µs/node", "with costs", "target", "", *PEERS]
    widths = [7, 12, 7, 8, 6, 8, 12, 8, 6, 12, 12, 12]
    header = "".join(f"{column:>{width}}" for column, width in zip(columns, widths, strict=True))
    print(f"{'model':26}{'inputs':18}{header}")
    for name in CASES:
        print(_row(name))
    print(_giant())


def _check_peers_python() -> None:
    if shutil.which(PEERS_PYTHON) is None:
        raise SystemExit(
            f"MODELDIAGRAMS_PEERS_PYTHON: expected the path of a Python interpreter, found none at {PEERS_PYTHON!r}; "
            "without the variable, the Python that runs the benchmark is used"
        )


def _row(name: str) -> str:
    case = prepared(name)

    def forward() -> None:
        with torch.no_grad():
            case.model(**case.inputs)

    def traced(*, costs: bool = False) -> Any:
        with torch.no_grad():
            return trace(case.model, (), case.inputs, mode="real", costs=costs)

    nodes = len(traced().nodes)
    plain, without_costs, with_costs = alternating(forward, traced, lambda: traced(costs=True))
    per_node = (without_costs - plain) / nodes * 1e6
    ratio, ratio_with_costs = without_costs / plain, with_costs / plain
    sizes = " ".join("×".join(map(str, tensor.shape)) for tensor in case.inputs.values())
    row = f"{name:26}{sizes:18}{nodes:7}{plain * 1e3:12.1f}{ratio:7.2f}{_target(ratio, TARGETS.get(name))}"
    peers = "".join(f"{_peer(tool, name):>12}" for tool in PEERS) if name in TARGETS else ""
    return f"{row}{per_node:8.0f}{ratio_with_costs:12.2f}{_target(ratio_with_costs, WITH_COSTS.get(name))}{peers}"


def _target(ratio: float, target: float | None) -> str:
    if target is None:
        return f"{'':14}"
    return f"{target:8.2f} {'met' if ratio <= target else 'MISSED':<5}"


def _peer(tool: str, name: str) -> str:
    """Return another tool's ratio; ``-`` if it is not installed, ``fails`` if it can't trace the model."""
    is_there = subprocess.run([PEERS_PYTHON, "-c", f"import {tool}"], capture_output=True, check=False)
    if is_there.returncode:
        return "-"
    ran = subprocess.run(
        [PEERS_PYTHON, "-m", "benchmarks.peers", tool, name], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return "fails" if ran.returncode else f"{json.loads(ran.stdout.splitlines()[-1]):.2f}"


def _giant() -> str:
    """Measure DeepSeek-V3 at full size on meta, in its own process to measure its memory too."""
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.giant"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = json.loads(ran.stdout)
    ratio = found["traced"] / found["plain"]
    within = "met" if found["resident"] < GIANT_BYTES else "MISSED"
    return (
        f"\nDeepSeek-V3 on meta, with costs: {found['nodes']} nodes ({found['state']}), "
        f"plain meta forward {found['plain']:.2f} s, trace {found['traced']:.2f} s,"
        f" ratio {ratio:.2f}{_target(ratio, GIANT_TARGET)}, resident {found['resident'] / 1e6:.0f} MB"
        f" of {GIANT_BYTES / 1e6:.0f} {within}"
    )
