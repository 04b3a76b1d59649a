"""What a model can change in its process so that later models get other diagrams. The one list of such state.

The tracer restores what tracing itself changes, and the content of what the model holds. All else is as after a plain
call; where the state below differs, the worker starts a new process.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["State", "has_changed", "process_state"]

Names = dict[str, Any]


class State(NamedTuple):
    """The state to compare before and after a model."""

    settings: Names
    modules: dict[str, Names]
    """What the names in torch's public modules, and Python's built-in ones, are bound to."""
    layers: dict[str, Names]
    """Methods of tensors and of torch's layers."""


def process_state() -> State:
    """Take it down.

    ``sys.path`` is not part of it, because it is set anew for every model; of the warning filters only those that raise
    are.
    """
    return State(_python_settings() | _torch_settings(), dict(_modules()), dict(_layers()))


def has_changed(before: State, after: State) -> bool:
    """Whether anything differs. A new name in a module, as imports bring them, is no change; a new method hides one."""
    modules = [(was, after.modules.get(name, {})) for name, was in before.modules.items()]
    layers = [(was, after.layers.get(name, {})) for name, was in before.layers.items()]
    pairs = [*modules, *layers, *((now, was) for was, now in layers)]
    return before.settings != after.settings or any(_is_replaced(was, now) for was, now in pairs)


def _is_replaced(was: Names, now: Names) -> bool:
    """Whether a function or a class is not the same object any more."""
    if [*map(id, was.values())] == [*map(id, now.values())]:
        return False
    missing = object()
    return any(callable(value) and now.get(name, missing) is not value for name, value in was.items())


def _python_settings() -> Names:
    return {
        "working directory": _working_directory(),
        "environment": dict(os.environ),
        "threads": threading.enumerate(),
        "signals": tuple(signal.getsignal(number) for number in sorted(signal.valid_signals())),
        "alarm": hasattr(signal, "getitimer") and signal.getitimer(signal.ITIMER_REAL)[0] > 0,
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "recursion limit": sys.getrecursionlimit(),
        "garbage collection": gc.isenabled(),
        "import hooks": [*map(id, sys.meta_path), *map(id, sys.path_hooks)],
        "warnings as errors": [item for item in warnings.filters if item[0] == "error"],
        "trace and profile functions": (sys.gettrace(), sys.getprofile()),
    }


def _torch_settings() -> Names:
    return {
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "grad mode": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "deterministic": (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        ),
        "autocast": [(torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)) for kind in ("cpu", "cuda")],
        "fast path of attention": torch.backends.mha.get_fastpath_enabled(),
        "hooks of all modules": [
            list(hooks)
            for name, hooks in vars(torch.nn.modules.module).items()
            if name.startswith("_global_")
            if isinstance(hooks, dict)
        ],
        "torch's threads": torch.get_num_threads(),
    }


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None  # it was removed


def _modules() -> Iterator[tuple[str, Names]]:
    for name, module in list(sys.modules.items()):
        if name in {"torch", "builtins"} or (name.startswith("torch.") and "._" not in name):
            yield name, dict(vars(module))


def _layers() -> Iterator[tuple[str, Names]]:
    for layer in {torch.Tensor, *(value for value in vars(torch.nn).values() if isinstance(value, type))}:
        yield f"{layer.__module__}.{layer.__qualname__}", dict(vars(layer))
