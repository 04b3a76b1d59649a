"""``python -m benchmarks.browser.vista MODEL FOLDER [DEPTH]``: writes torchvista's page of a model to a folder."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from typing import Any

import torch
import torchvista

from benchmarks import layout
from benchmarks.models import CASES, prepared


def main() -> None:
    name, folder, *depth = sys.argv[1:]
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(100_000)  # it recurses along the graph, and would fail with 80 layers
    with contextlib.redirect_stdout(io.StringIO()):
        torchvista.trace_model(
            *_case(name),
            **({"collapse_modules_after_depth": int(depth[0])} if depth else {}),
            export_format="html",
            export_path=folder,
        )


def _case(name: str) -> tuple[torch.nn.Module, tuple[Any, ...]]:
    """Make the model and its inputs; the largest ones have no values."""
    if name in CASES:
        model, inputs = prepared(name)
        return model, tuple(inputs.values())
    case = layout.CASES[name]
    with torch.device("meta"):
        return case.make().eval(), tuple(layout.example(key, shape) for key, shape in case.inputs.items())


if __name__ == "__main__":
    main()
