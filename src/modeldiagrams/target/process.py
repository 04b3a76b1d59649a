"""What a model can leave behind in the process it ran in, to the harm of the models after it."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from modeldiagrams.target.usercode import user_code

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["State", "has_changed", "process_state", "put_on"]

State = dict[object, Any]


def process_state() -> State:
    """All that is compared before and after a model: settings, torch's functions, threads."""
    settings: State = {
        "working directory": _working_directory(),
        "environment": dict(os.environ),
        "threads": threading.enumerate(),
        "signals": tuple(signal.getsignal(number) for number in sorted(signal.valid_signals())),
        "alarm": hasattr(signal, "getitimer") and signal.getitimer(signal.ITIMER_REAL)[0] > 0,
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "recursion limit": sys.getrecursionlimit(),
        "collects garbage": gc.isenabled(),
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "grad mode": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "torch's threads": torch.get_num_threads(),
    }
    return settings | dict(_functions())


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None  # it was removed


def has_changed(before: State, after: State) -> bool:
    """Whether something is not as it was. New names, as every import brings them, change nothing."""
    missing = object()
    # values are compared by identity where it is enough: user code may have put anything there
    return any(
        now is not was and (isinstance(name, tuple) or now != was)
        for name, was in before.items()
        for now in [after.get(name, missing)]
    )


def put_on(device: str, model: torch.nn.Module, inputs: Any, name: str) -> Any:
    """Move a model and its inputs.

    Args:
        device: Where to.
        model: Is moved itself.
        inputs: Any nesting of tensors and other values.
        name: How the author calls the model, for the message.

    Returns:
        The inputs on the device.

    Raises:
        TargetError: if there is no such device.
    """
    with user_code(f"moving {name} to the device {device}"):
        model.to(device)
        return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.to(device), inputs)


def _functions() -> Iterator[tuple[object, Any]]:
    """Functions and classes of torch's public modules, methods of its layers, Python's own functions."""
    for name, module in list(sys.modules.items()):
        if name in {"torch", "builtins"} or (name.startswith("torch.") and "._" not in name):
            yield from _callables(name, module)
    for layer in {torch.Tensor, *(value for value in vars(torch.nn).values() if isinstance(value, type))}:
        methods = dict(_callables(f"{layer.__module__}.{layer.__qualname__}", layer))
        yield from methods.items()
        # a new method hides an inherited one
        yield f"methods of {layer.__module__}.{layer.__qualname__}", methods.keys()


def _callables(name: str, holder: Any) -> Iterator[tuple[object, Any]]:
    for key, value in list(vars(holder).items()):
        if callable(value):
            yield (name, key), value
