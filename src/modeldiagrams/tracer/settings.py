"""What a forward may set for the whole process: the random state, torch's settings and modes, Python's."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import sys
import threading
import warnings
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules import module as torch_modules

from modeldiagrams.tracer.belongings import put_back, put_contents
from modeldiagrams.tracer.internals import (
    MODES,
    InferenceMode,
    default_device,
    set_default_device,
)
from modeldiagrams.tracer.private_settings import PRIVATE_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["modes_left", "same_settings"]

_left_open: list[Any] = []
"""What a forward left open and only an opposite can close; that has to stay."""


@contextlib.contextmanager
def same_settings() -> Iterator[None]:
    """Put back, at the end, what was set inside."""
    random_state = _random_state()
    settings = [(read(), read, write) for read, write in _SETTINGS]
    try:
        yield
    finally:
        for before, read, write in settings:
            put_back(_put_setting, before, read, write)
        put_back(_restore_random, random_state)


def _put_setting(before: Any, read: Callable[[], Any], write: Callable[[Any], Any]) -> None:
    if read() != before:
        write(before)


@contextlib.contextmanager
def modes_left() -> Iterator[None]:
    """Leave, at the end, the modes of torch that were entered inside and left open.

    Else those around would be ended in place of them.
    """
    device, inference = default_device(), torch.is_inference_mode_enabled()
    stacks = [(kind, entered, entered()) for kind, entered in MODES]
    with _inference_modes() as opened:
        try:
            yield
        finally:
            if default_device() != device:
                set_default_device(device)
            for kind, entered, before in stacks:
                for mode in reversed(entered()):
                    if not any(mode is other for other in before):
                        kind.__exit__(mode, None, None, None)
            while opened and torch.is_inference_mode_enabled() != inference:
                if (left := opened.pop()()) is not None:
                    left.__exit__(None, None, None)
            if torch.is_inference_mode_enabled() != inference:
                _left_open.append(InferenceMode(inference))
                _left_open[-1].__enter__()


@contextlib.contextmanager
def _inference_modes() -> Iterator[list[weakref.ref[Any]]]:
    """Tells those that are entered on this thread: one that ended later than the modes around it would break these."""
    kind: Any = torch.inference_mode
    enter, thread = kind.__enter__, threading.get_ident()
    opened: list[weakref.ref[Any]] = []

    def noted(mode: Any) -> Any:
        if threading.get_ident() == thread:
            opened.append(weakref.ref(mode))
        return enter(mode)

    kind.__enter__ = noted
    try:
        yield opened
    finally:
        kind.__enter__ = enter


def _random_state() -> dict[str, Any]:
    state: dict[str, Any] = {"torch": torch.get_rng_state(), "python": random.getstate()}
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        state["cuda"] = torch.cuda.get_rng_state_all()
    if numpy := sys.modules.get("numpy.random"):
        state["numpy"] = numpy.get_state()
    return state


def _restore_random(state: dict[str, Any]) -> None:
    torch.set_rng_state(state["torch"])
    random.setstate(state["python"])
    if "cuda" in state:
        torch.cuda.set_rng_state_all(state["cuda"])
    if "numpy" in state:
        sys.modules["numpy.random"].set_state(state["numpy"])


def _autocast(kind: str) -> tuple[bool, torch.dtype]:
    return torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)


def _set_autocast(kind: str, was: tuple[bool, torch.dtype]) -> None:
    torch.set_autocast_enabled(kind, was[0])
    torch.set_autocast_dtype(kind, was[1])


def _anomaly() -> tuple[bool, bool]:
    return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()


_GLOBAL_HOOKS = [
    hooks for name, hooks in vars(torch_modules).items() if name.startswith("_global_") and isinstance(hooks, dict)
]


def _global_hooks() -> list[dict[Any, Any]]:
    return [hooks.copy() for hooks in _GLOBAL_HOOKS]


def _set_global_hooks(before: list[dict[Any, Any]]) -> None:
    for hooks, content in zip(_GLOBAL_HOOKS, before, strict=True):
        put_contents(hooks, content)


def _working_directory() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - a tenth of the time
    except OSError:
        return None  # it was removed


def _change_directory(before: str | None) -> None:
    if before is not None:
        with contextlib.suppress(OSError):
            os.chdir(before)


_variables: Any = getattr(os.environ, "_data", os.environ)
"""The environment as it is kept: read in a hundredth of the time."""


def _environment() -> dict[Any, Any]:
    return dict(_variables)


def _set_environment(before: dict[Any, Any]) -> None:
    """New variables stay: an import, which is not done again, may have set them."""
    for name, value in before.items():
        if _variables.get(name) != value:
            os.environ[os.fsdecode(name)] = os.fsdecode(value)


def _logging() -> tuple[int, int]:
    return logging.root.level, logging.root.manager.disable


def _set_logging(before: tuple[int, int]) -> None:
    logging.root.setLevel(before[0])
    logging.disable(before[1])


def _set_warnings(before: list[Any]) -> None:
    warnings.resetwarnings()  # tells Python's own copy, too
    filters: Any = warnings.filters
    filters[:] = before


_SETTINGS: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    (torch.is_grad_enabled, torch.set_grad_enabled),
    (torch.get_default_dtype, torch.set_default_dtype),
    *((partial(_autocast, kind), partial(_set_autocast, kind)) for kind in ("cpu", "cuda")),
    (torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    (_anomaly, lambda was: torch.set_anomaly_enabled(*was)),
    (torch.is_warn_always_enabled, torch.set_warn_always),
    (torch.get_num_threads, torch.set_num_threads),
    (torch.backends.mha.get_fastpath_enabled, torch.backends.mha.set_fastpath_enabled),
    (torch.backends.cuda.flash_sdp_enabled, torch.backends.cuda.enable_flash_sdp),
    (torch.backends.cuda.mem_efficient_sdp_enabled, torch.backends.cuda.enable_mem_efficient_sdp),
    (torch.backends.cuda.math_sdp_enabled, torch.backends.cuda.enable_math_sdp),
    (torch.backends.cuda.cudnn_sdp_enabled, torch.backends.cuda.enable_cudnn_sdp),
    *PRIVATE_SETTINGS,
    (_global_hooks, _set_global_hooks),
    (_working_directory, _change_directory),
    (_environment, _set_environment),
    (_logging, _set_logging),
    (lambda: warnings.filters[:], _set_warnings),
)
"""How to read and how to write what a forward may set."""
