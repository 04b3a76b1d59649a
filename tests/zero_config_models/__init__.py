"""Hand-written models in many styles; not one of them says what it is called with."""

from __future__ import annotations

import importlib
import inspect

from torch import nn

_MODULES = ("vision", "text", "series", "tabular", "generative", "graphs", "structures", "constructors")


def paths() -> list[str]:
    """Dotted paths of all models and factories: what a docs author would write."""
    found = []
    for name in _MODULES:
        module = importlib.import_module(f"{__name__}.{name}")
        for key, value in vars(module).items():
            is_model = inspect.isclass(value) and issubclass(value, nn.Module) and value.__module__ == module.__name__
            if is_model or key.startswith("make_"):
                found.append(f"{module.__name__}.{key}")
    return found
