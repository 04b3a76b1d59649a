"""Detects changes by a model in its process that may affect the diagram of the next one (see `reuse`).

No such list is complete; this one covers what happens in practice. If each model has its own process, it only detects
whether the import of a package affects libraries that are imported later.
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
    """Record the state, without ``sys.path``, which is set for every model."""
    return {**_read_functions(), **_read_python_settings(), **_read_torch_settings()}


def has_changed(before: State, after: State) -> bool:
    """Whether anything differs, except new names in modules, as after imports."""
    return any(after.get(name) != value for name, value in before.items())


def _read_functions() -> State:
    """Record the objects of PyTorch's and Python's functions, layers and methods."""
    layers = [value for value in vars(torch.nn).values() if isinstance(value, type)]
    owners: tuple[Any, ...] = (builtins, torch, torch.nn.functional, torch.nn.init, torch.Tensor, *layers)
    return {
        f"{owner.__name__}.{name}": id(value)
        for owner in owners
        for base in reversed(getattr(owner, "__mro__", (owner,)))  # a new method hides an inherited one
        for name, value in list(vars(base).items())
        if callable(value)
    }


def _read_python_settings() -> State:
    return {
        "working directory": _find_working_directory(),
        "environment": dict(os.environ),
        "threads": threading.enumerate(),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "recursion limit": sys.getrecursionlimit(),
        "garbage collection": gc.isenabled(),
        "trace and profile functions": (sys.gettrace(), sys.getprofile()),
    }


def _read_torch_settings() -> State:
    return {
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "grad mode": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "autocast": (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")),
        "fast path of attention": torch.backends.mha.get_fastpath_enabled(),
        "torch's threads": torch.get_num_threads(),
    }


def _find_working_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None  # it was removed
