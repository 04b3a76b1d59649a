"""One cold ``modeldiagrams trace`` in its own processes, each of which notes what its stages compute.

``python -m benchmarks.cold_stages command FILE`` runs the command and writes a line for every stage to the file; the
command's worker is this module again, which does what a worker does.
"""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

COMMAND = ("trace", "torch.nn.Linear", "--args", "[4, 4]", "--inputs", "[1, 4]")

START = "start of Python"
COMMAND_LINE = "import of the command line"
ASKING = "the command: asking its worker, writing"
WORKER = "start of Python, for the worker"
TORCH = "import torch"
FAKE_TENSORS = "torch's own first fake tensors"
TRACER = "import of the tracer"
READY = "getting ready: a first trace"
MODEL = "the trace itself, in its fork"

_FILE = "COLD_STAGES"
_OURS, _THIS = "modeldiagrams.worker", "benchmarks.cold_stages"


class Stages:
    """The CPU seconds of one process, split where it says so: the parts sum up to the whole."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._last = 0.0

    def end(self, stage: str) -> None:
        """Note what was computed since the last stage ended; the first began with the process."""
        now = time.process_time()
        _note(self._file, stage, now - self._last)
        self._last = now


def read(file: Path) -> dict[str, float]:
    """Stage → CPU seconds of all its processes."""
    found: dict[str, float] = {}
    for line in file.read_text().splitlines():
        stage, seconds = line.split("\t")
        found[stage] = found.get(stage, 0.0) + float(seconds)
    return found


def _note(file: str, stage: str, seconds: float) -> None:
    with Path(file).open("a") as lines:
        lines.write(f"{stage}\t{seconds}\n")


def _command(file: str) -> None:
    stages = Stages(file)
    stages.end(START)
    import click  # noqa: PLC0415  (each import is a stage)

    from modeldiagrams.cli import main  # noqa: PLC0415

    main.get_command(click.Context(main), COMMAND[0])  # imports what the command needs
    stages.end(COMMAND_LINE)
    from modeldiagrams.worker import child  # noqa: PLC0415

    os.environ |= {_FILE: file, "PYTHONPATH": str(Path(__file__).parents[1])}
    child.subprocess.Popen = _Worker  # type: ignore[misc]
    main(COMMAND, standalone_mode=False)
    stages.end(ASKING)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    noted = read(Path(file))
    before = sum(noted[stage] for stage in (WORKER, TORCH, FAKE_TENSORS, TRACER, READY))
    _note(file, MODEL, used.ru_utime + used.ru_stime - before)


class _Worker(subprocess.Popen[bytes]):
    """This module instead of `modeldiagrams.worker`."""

    def __init__(self, words: list[str], **more: Any) -> None:
        super().__init__([_THIS if word == _OURS else word for word in words], **more)


def _worker() -> None:
    stages = Stages(os.environ[_FILE])
    stages.end(WORKER)
    gc.disable()  # as a template does first of all
    import torch  # noqa: PLC0415  (each import is a stage)
    from torch import nn  # noqa: PLC0415

    stages.end(TORCH)
    from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: PLC0415

    for mode in (torch.device("meta"), FakeTensorMode()):
        with mode:
            nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2), nn.ReLU())(torch.empty(1, 2))
    stages.end(FAKE_TENSORS)
    from modeldiagrams.worker import __main__ as worker  # noqa: PLC0415
    from modeldiagrams.worker import tracing  # noqa: PLC0415

    stages.end(TRACER)
    warm_up = tracing.warm_up

    def noted() -> None:
        warm_up()
        stages.end(READY)

    tracing.warm_up = noted
    worker.main()


if __name__ == "__main__":
    _command(sys.argv[2]) if sys.argv[1] == "command" else _worker()
