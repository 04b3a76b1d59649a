"""Libraries that `make zoo` installs apart."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from zoo.torchvision_ops import operators_in_place

_APART = str(Path(sys.prefix) / "zoo")


def import_from_zoo(name: str) -> Any:
    """A library that `make zoo` installs apart, with torchvision's operators, which may not load here."""
    if _APART not in sys.path:
        sys.path.append(_APART)
    if "torchvision" not in sys.modules:
        with operators_in_place():
            importlib.import_module("torchvision")
    return importlib.import_module(name)
