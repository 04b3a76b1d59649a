"""``python -m benchmarks.peers TOOL MODEL``: prints another tool's trace time relative to the plain forward, as JSON.

Each tool runs in its own process, because some leave torch changed, and only through its public interface.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.measure import alternating
from benchmarks.models import prepared


def torchview(model: Any, given: torch.Tensor) -> Callable[[], object]:
    """Make the graph, without drawing it."""
    import torchview as tool  # noqa: PLC0415 - optional

    return lambda: tool.draw_graph(model, input_data=given, device="cpu", depth=100)


def torchvista(model: Any, given: torch.Tensor) -> Callable[[], object]:
    """Write the page to a file, which can't be skipped."""
    import torchvista as tool  # noqa: PLC0415 - optional

    page = str(Path(tempfile.mkdtemp()) / "page")
    return lambda: tool.trace_model(model, (given,), export_format="html", export_path=page)


def torchlens(model: Any, given: torch.Tensor) -> Callable[[], object]:
    """Trace without saving activations."""
    import torchlens as tool  # noqa: PLC0415 - optional

    return lambda: tool.trace(model, given)


TOOLS = {"torchview": torchview, "torchvista": torchvista, "torchlens": torchlens}


def main() -> None:
    tool, name = sys.argv[1:]
    torch.set_num_threads(1)
    model, inputs = prepared(name)
    (given,) = inputs.values()
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        plain, traced = alternating(lambda: model(given), TOOLS[tool](model, given), rounds=3)
    print(json.dumps(traced / plain))


if __name__ == "__main__":
    main()
