"""What a model may change in its process so that the next one there gets another diagram (see `reuse`).

No such list is complete; this one has what happens in practice. Where each model has its own process, it only tells
whether the import of a package changes what libraries see that are imported later.
"""

from __future__ import annotations

import builtins
import gc
import os
import sys
import threading
from pathlib import Path
from typing import Any

import torch

__all__ = ["State", "has_changed", "process_state"]

State = dict[str, Any]


def process_state() -> State:
    """Take it down. ``sys.path`` is not part of it, because it is set anew for every model."""
    return {**_functions(), **_python_settings(), **_torch_settings()}


def has_changed(before: State, after: State) -> bool:
    """Whether anything differs. A new name in a module, as imports bring them, is no change."""
    return any(after.get(name) != value for name, value in before.items())


def _functions() -> State:
    """What the names of PyTorch's and Python's own functions, layers and methods are bound to."""
    layers = [value for value in vars(torch.nn).values() if isinstance(value, type)]
    owners: tuple[Any, ...] = (builtins, torch, torch.nn.functional, torch.nn.init, torch.Tensor, *layers)
    return {
        f"{owner.__name__}.{name}": id(value)
        for owner in owners
        for base in reversed(getattr(owner, "__mro__", (owner,)))  # a new method hides an inherited one
        for name, value in list(vars(base).items())
        if callable(value)
    }


def _python_settings() -> State:
    return {
        "working directory": _working_directory(),
        "environment": dict(os.environ),
        "threads": threading.enumerate(),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "recursion limit": sys.getrecursionlimit(),
        "garbage collection": gc.isenabled(),
        "trace and profile functions": (sys.gettrace(), sys.getprofile()),
    }


def _torch_settings() -> State:
    return {
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "grad mode": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "autocast": (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")),
        "fast path of attention": torch.backends.mha.get_fastpath_enabled(),
        "torch's threads": torch.get_num_threads(),
    }


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None  # it was removed
