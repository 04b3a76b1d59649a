"""Detects whether the import of a package changes what libraries find that are imported after it.

No such list is complete; this one covers what happens in practice: environment variables, and replaced functions.
"""

from __future__ import annotations

import builtins
import os
from typing import Any

import torch

__all__ = ["State", "has_changed", "process_state"]

State = dict[str, Any]


def process_state() -> State:
    """Record the environment, the default dtype, and the functions, layers and methods of PyTorch and Python."""
    layers = [value for value in vars(torch.nn).values() if isinstance(value, type)]
    owners: tuple[Any, ...] = (builtins, torch, torch.nn.functional, torch.nn.init, torch.Tensor, *layers)
    functions = {
        f"{owner.__name__}.{name}": id(value)
        for owner in owners
        for base in reversed(getattr(owner, "__mro__", (owner,)))  # a new method hides an inherited one
        for name, value in list(vars(base).items())
        if callable(value)
    }
    return {**functions, "environment": dict(os.environ), "dtype": torch.get_default_dtype()}


def has_changed(before: State, after: State) -> bool:
    """Whether anything differs, except new names in modules, as after imports."""
    return any(after.get(name) != value for name, value in before.items())
