"""A trace leaves no mark: what a forward changes is put back, also when it raised."""

from __future__ import annotations

import contextlib
import itertools
import operator
import random
import sys
from collections import OrderedDict, deque
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.modules import module as torch_modules

from modeldiagrams.tracer.internals import (
    MODES,
    InferenceMode,
    default_device,
    set_default_device,
)
from modeldiagrams.tracer.keeper import Keeper, restore_container

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["modes_left", "untouched"]

_CONTAINERS = frozenset({dict, OrderedDict, list, set, deque})
_ATOMS = frozenset({str, int, float, bool, type(None)})
_LOOKED_AFTER = (Tensor, nn.Module, type)
_LIBRARIES = frozenset({"torch", "numpy", *sys.stdlib_module_names})
_MAX_DEPTH = 6
_MAX_ITEMS = 4096
_GLOBAL_HOOKS = [
    hooks for name, hooks in vars(torch_modules).items() if name.startswith("_global_") and isinstance(hooks, dict)
]
_left_open: list[Any] = []
"""What a forward left open and only an opposite can close; that has to stay."""


@contextlib.contextmanager
def untouched(modules: Sequence[tuple[str, nn.Module]], inputs: Any) -> Iterator[Keeper]:
    """Undo, at the end, all that a forward pass changes in the model, its inputs, the random state and the settings.

    Args:
        modules: All of the model's, itself included.
        inputs: Its arguments.
    """
    each = list({id(module): module for _, module in modules}.values())
    keeper = Keeper(each, inputs)
    with contextlib.ExitStack() as undo:
        undo.callback(keeper.restore)
        undo.callback(_ModuleStates(each).restore)
        undo.callback(_restore_random, _random_state())
        undo.callback(_restore_settings, [(read(), read, write) for read, write in _SETTINGS])
        yield keeper


@contextlib.contextmanager
def modes_left() -> Iterator[None]:
    """Leave, at the end, the modes of torch that were entered inside and left open.

    Else those around would be ended in place of them.
    """
    device, inference = default_device(), torch.is_inference_mode_enabled()
    stacks = [(kind, entered, entered()) for kind, entered in MODES]
    try:
        yield
    finally:
        if default_device() != device:
            set_default_device(device)
        for kind, entered, before in stacks:
            for mode in reversed(entered()):
                if not any(mode is other for other in before):
                    kind.__exit__(mode, None, None, None)
        if torch.is_inference_mode_enabled() != inference:
            _left_open.append(InferenceMode(inference))
            _left_open[-1].__enter__()


class _ModuleStates:
    """The attributes of modules, and what was in the plain containers found there: hooks, parameters, caches."""

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        self._modules = modules
        self._classes = list(map(type, modules))
        self._attributes = [vars(module).copy() for module in modules]
        held = [value for values in self._attributes for value in values.values() if type(value) not in _ATOMS]
        self._empty = [value for value in held if type(value) in _CONTAINERS and not value]
        """Most containers: they are for hooks."""
        found = _Contents()
        for value in [value for value in held if type(value) not in _CONTAINERS or value]:
            found.add(value)
        self._dicts = [(container, content) for container, content in found.copies if isinstance(container, dict)]
        self._others = [(container, content) for container, content in found.copies if not isinstance(container, dict)]

    def restore(self) -> None:
        for module, class_ in zip(self._modules, self._classes, strict=True):
            if type(module) is not class_:
                module.__class__ = class_  # lazy modules turn into others
        _restore_dicts(list(zip(map(vars, self._modules), self._attributes, strict=True)))
        for container in filter(None, self._empty):
            container.clear()
        _restore_dicts(self._dicts)
        for container, content in self._others:
            restore_container(container, content)


def _restore_dicts(dicts: Sequence[tuple[dict[Any, Any], dict[Any, Any]]]) -> None:
    """Give dicts the content they had; nearly always they have it, which is seen fastest of all at once."""
    pairs = [pair for now, before in dicts for pair in (now.values(), before.values(), now, before)]
    lengths = list(map(len, pairs))
    is_as_before = lengths[::2] == lengths[1::2] and all(
        map(operator.is_, itertools.chain.from_iterable(pairs[::2]), itertools.chain.from_iterable(pairs[1::2]))
    )
    if not is_as_before:
        for now, before in dicts:
            restore_container(now, before)


class _Contents:
    """Copies of containers and of those in them; an object of the user's own is its dict."""

    def __init__(self) -> None:
        self.copies: list[tuple[Any, Any]] = []
        """A container and a copy of it."""
        self._entered: set[int] = set()  # modules may share what they hold: a configuration
        self._passive = {*_ATOMS, Tensor, nn.Parameter}
        """Classes whose objects are not entered."""

    def add(self, value: Any, depth: int = 0) -> None:
        """Copy it, if it is a container, and what it holds."""
        kind = type(value)
        if kind in self._passive or id(value) in self._entered:
            return
        container = value if kind in _CONTAINERS or kind is tuple else self._attributes(value)
        if container is None or (kind is tuple and self._passive.issuperset(map(type, value))):
            return
        self._entered.add(id(value))
        if kind is not tuple:
            self.copies.append((container, container.copy()))
        if depth < _MAX_DEPTH and 0 < len(container) <= _MAX_ITEMS:
            for item in container.values() if isinstance(container, dict) else container:
                if type(item) not in self._passive:
                    self.add(item, depth + 1)

    def _attributes(self, value: Any) -> dict[str, Any] | None:
        """The attributes of a plain object: a cache, a configuration. None for what torch and Python look after."""
        kind = type(value)
        if issubclass(kind, _LOOKED_AFTER) or kind.__module__.partition(".")[0] in _LIBRARIES:
            self._passive.add(kind)
            return None
        try:
            attributes = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return None
        return attributes if type(attributes) is dict else None


def _random_state() -> dict[str, Any]:
    state: dict[str, Any] = {"torch": torch.get_rng_state(), "python": random.getstate()}
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        state["cuda"] = torch.cuda.get_rng_state_all()
    if "numpy" in sys.modules:
        state["numpy"] = sys.modules["numpy"].random.get_state()
    return state


def _restore_random(state: dict[str, Any]) -> None:
    torch.set_rng_state(state["torch"])
    random.setstate(state["python"])
    if "cuda" in state:
        torch.cuda.set_rng_state_all(state["cuda"])
    if "numpy" in state:
        sys.modules["numpy"].random.set_state(state["numpy"])


def _restore_settings(settings: list[tuple[Any, Callable[[], Any], Callable[[Any], Any]]]) -> None:
    for before, read, write in settings:
        if read() != before:
            write(before)


def _autocast(kind: str) -> tuple[bool, torch.dtype]:
    return torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)


def _set_autocast(kind: str, was: tuple[bool, torch.dtype]) -> None:
    torch.set_autocast_enabled(kind, was[0])
    torch.set_autocast_dtype(kind, was[1])


def _global_hooks() -> list[dict[Any, Any]]:
    return [hooks.copy() for hooks in _GLOBAL_HOOKS]


def _set_global_hooks(before: list[dict[Any, Any]]) -> None:
    for hooks, content in zip(_GLOBAL_HOOKS, before, strict=True):
        restore_container(hooks, content)


_SETTINGS: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    (torch.is_grad_enabled, torch.set_grad_enabled),
    (torch.get_default_dtype, torch.set_default_dtype),
    *((partial(_autocast, kind), partial(_set_autocast, kind)) for kind in ("cpu", "cuda")),
    (torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    (torch.is_anomaly_enabled, torch.set_anomaly_enabled),
    (torch.backends.mha.get_fastpath_enabled, torch.backends.mha.set_fastpath_enabled),
    (torch.backends.cuda.flash_sdp_enabled, torch.backends.cuda.enable_flash_sdp),
    (torch.backends.cuda.mem_efficient_sdp_enabled, torch.backends.cuda.enable_mem_efficient_sdp),
    (torch.backends.cuda.math_sdp_enabled, torch.backends.cuda.enable_math_sdp),
    (_global_hooks, _set_global_hooks),
)
"""How to read and how to write what a forward may set."""
