"""Libraries that `make zoo` installs apart."""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

_APART = str(Path(sys.prefix) / "zoo")
_LIBRARIES: list[torch.library.Library] = []


def import_from_zoo(name: str) -> Any:
    """A library that `make zoo` installs apart, with the ops of a binary part that fits another build of torch."""
    if _APART not in sys.path:
        sys.path.append(_APART)
        for op in ("nms", "qnms"):
            library = torch.library.Library("torchvision", "FRAGMENT")
            with suppress(RuntimeError):
                library.define(f"{op}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
            _LIBRARIES.append(library)  # ops go with their library
    return importlib.import_module(name)
