"""What a cold ``modeldiagrams trace`` computes beside importing torch: CPU time, the least of several runs."""

from __future__ import annotations

import os
import subprocess
import sys

ROUNDS = 5
BUDGET = 0.3
"""CPU seconds of each part beside torch."""

_TORCH = "import torch"
_COMPILER = f"{_TORCH}; from torch._subclasses.fake_tensor import FakeTensorMode; FakeTensorMode()"
"""What torch itself imports, its compiler among it, when the first fake tensor is asked for."""
_TRACER = f"{_COMPILER}; import modeldiagrams.worker.tracing"
_READY = "import modeldiagrams.worker.tracing as tracing; tracing.warm_up()"
_COMMAND = ("trace", "torch.nn.Linear", "--args", "[4, 4]", "--inputs", "[1, 4]")


def main() -> None:
    """Print one row per part."""
    runs = {
        "torch": ("-c", _TORCH),
        "compiler": ("-c", _COMPILER),
        "tracer": ("-c", _TRACER),
        "ready": ("-c", _READY),
        "command line": ("-c", "import modeldiagrams.cli"),
        "trace": ("-m", "modeldiagrams", *_COMMAND),
    }
    rounds = [{name: _seconds(words) for name, words in runs.items()} for _ in range(ROUNDS)]
    seconds = {name: min(found[name] for found in rounds) for name in runs}  # a busy machine only adds
    parts = {
        "import torch": seconds["torch"],
        "torch's own imports for fake tensors": seconds["compiler"] - seconds["torch"],
        "import of the tracer": seconds["tracer"] - seconds["compiler"],
        "getting ready: a first trace": seconds["ready"] - seconds["tracer"],
        "import of the command line": seconds["command line"],
        "the trace itself, in its fork": seconds["trace"] - seconds["ready"] - seconds["command line"],
    }
    print(f"\ncold `modeldiagrams trace` of one layer: {seconds['trace']:.2f} CPU s, least of {ROUNDS}")
    for name, value in parts.items():
        verdict = "" if "torch" in name else "met" if value <= BUDGET else "MISSED"
        print(f"{name:40}{value:6.2f} s  {verdict}")


def _seconds(words: tuple[str, ...]) -> float:
    before = os.times()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system
