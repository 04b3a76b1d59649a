"""What a cold ``modeldiagrams trace`` computes beside importing torch: CPU time by stages, median of several runs."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.cold_stages import (
    ASKING,
    COMMAND_LINE,
    FAKE_TENSORS,
    MODEL,
    READY,
    START,
    TORCH,
    TRACER,
    WORKER,
    read,
)
from benchmarks.measure import as_installed

ROUNDS = 7
BUDGET = 0.3
"""CPU seconds of each part of ours."""

_STAGES = (START, COMMAND_LINE, ASKING, WORKER, TORCH, FAKE_TENSORS, TRACER, READY, MODEL)
_NOT_OURS = frozenset({START, WORKER, TORCH, FAKE_TENSORS})


def main() -> None:
    """Print one row per stage."""
    _run()  # compiles, fills the system's file cache
    rounds = [_run() for _ in range(ROUNDS)]
    whole = statistics.median(sum(found.values()) for found in rounds)
    print(f"\ncold `modeldiagrams trace` of one layer: {whole:.2f} CPU s, median of {ROUNDS}")
    for stage in _STAGES:
        seconds = statistics.median(found[stage] for found in rounds)
        verdict = "" if stage in _NOT_OURS else "met" if seconds <= BUDGET else "MISSED"
        print(f"{stage:40}{seconds:6.2f} s  {verdict}")


def _run() -> dict[str, float]:
    """Stage → CPU seconds."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stages"
        words = [sys.executable, "-m", "benchmarks.cold_stages", "command", str(file)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=as_installed())  # noqa: S603
        return read(file)
