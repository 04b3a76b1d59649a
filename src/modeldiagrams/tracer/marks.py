"""A trace leaves no mark: what a forward changes is put back, also when it raised."""

from __future__ import annotations

import contextlib
import random
import sys
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from modeldiagrams.tracer.internals import memory_key, set_version, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Keeper", "untouched"]

_CONTAINERS = (dict, OrderedDict, list, set)


@dataclass
class _Kept:
    """A tensor as it was."""

    tensor: Tensor
    class_: type
    version: int | None
    requires_grad: bool
    grad: Tensor | None
    copy: Tensor | None


class Keeper:
    """Remembers tensors of a model and puts their content back.

    Buffers are copied at once: some functions write them silently (batch norm). Parameters, which are big, are
    copied when something is about to write to them.
    """

    def __init__(self, model: Any) -> None:
        self._kept: dict[int, _Kept] = {}
        self._by_memory: dict[int | None, _Kept] = {}
        if isinstance(model, nn.Module):
            for parameter in model.parameters():
                self._keep(parameter, copy=False)
            for buffer in model.buffers():
                self._keep(buffer, copy=True)

    def before_write(self, tensor: Tensor) -> None:
        """Something is about to write to this tensor, perhaps a view of a parameter."""
        kept = self._by_memory.get(memory_key(tensor))
        if kept is not None and kept.copy is None:
            kept.copy = _copy(kept.tensor)

    def restore(self) -> None:
        """Put everything back."""
        with torch.no_grad():
            for kept in self._kept.values():
                self._restore(kept)

    def _keep(self, tensor: Tensor, *, copy: bool) -> None:
        kept = _Kept(
            tensor, type(tensor), version_of(tensor), tensor.requires_grad, None, _copy(tensor) if copy else None
        )
        if tensor.is_leaf:
            kept.grad = tensor.grad
        self._kept[id(tensor)] = kept
        self._by_memory[memory_key(tensor)] = kept

    def _restore(self, kept: _Kept) -> None:
        tensor = kept.tensor
        if type(tensor) is not kept.class_:  # a lazy parameter was given its shape
            tensor.data = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
            tensor.__class__ = kept.class_
        if kept.copy is not None:
            if tensor.shape != kept.copy.shape:
                tensor.data = kept.copy
            elif not torch.equal(tensor, kept.copy):  # batch norm writes its statistics without counting it as a write
                tensor.copy_(kept.copy)
        if kept.version is not None and version_of(tensor) != kept.version:
            set_version(tensor, kept.version)
        if tensor.is_leaf:
            if tensor.requires_grad != kept.requires_grad:
                tensor.requires_grad_(kept.requires_grad)
            tensor.grad = kept.grad


@contextlib.contextmanager
def untouched(model: Any) -> Iterator[Keeper]:
    """Undo, at the end, all that a forward pass changes in the model, the random state and torch's settings."""
    keeper = Keeper(model)
    with contextlib.ExitStack() as undo:
        undo.callback(keeper.restore)
        if isinstance(model, nn.Module):
            undo.callback(_restore_modules, [(module, _ModuleState.of(module)) for module in model.modules()])
        undo.callback(_restore_random, _random_state())
        undo.callback(_restore_settings, _settings())
        yield keeper


@dataclass
class _ModuleState:
    """The attributes of a module, and what was in those that are plain containers: hooks, parameters, caches."""

    class_: type
    attributes: dict[str, Any]
    contents: dict[str, Any]

    @classmethod
    def of(cls, module: nn.Module) -> _ModuleState:
        attributes = vars(module).copy()
        # most containers are hooks, and empty: not worth a copy each
        filled = {key: value.copy() for key, value in attributes.items() if type(value) in _CONTAINERS and value}
        return cls(type(module), attributes, filled)


def _restore_modules(states: list[tuple[nn.Module, _ModuleState]]) -> None:
    for module, state in states:
        _restore_module(module, state)


def _restore_module(module: nn.Module, state: _ModuleState) -> None:
    if type(module) is not state.class_:
        module.__class__ = state.class_  # lazy modules turn into others
    attributes = vars(module)
    attributes.clear()
    attributes.update(state.attributes)
    for key, value in attributes.items():
        if type(value) in _CONTAINERS:
            _restore_container(value, state.contents.get(key, ()))


def _restore_container(value: Any, content: Any) -> None:
    if not content:
        value.clear()
    elif isinstance(value, list):
        value[:] = content
    elif isinstance(value, set) or not _same(value, content):
        value.clear()
        value.update(content)


def _same(now: dict[Any, Any], before: dict[Any, Any]) -> bool:
    return len(now) == len(before) and all(a is b and now[a] is before[b] for a, b in zip(now, before, strict=True))


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


def _settings() -> dict[str, Any]:
    return {
        "grad": torch.is_grad_enabled(),
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "autocast": {kind: _autocast(kind) for kind in ("cpu", "cuda")},
        "deterministic": torch.are_deterministic_algorithms_enabled(),
    }


def _restore_settings(settings: dict[str, Any]) -> None:
    torch.set_grad_enabled(settings["grad"])
    torch.set_default_dtype(settings["dtype"])
    if torch.get_default_device() != settings["device"]:
        torch.set_default_device(settings["device"])
    for kind, (enabled, dtype) in settings["autocast"].items():
        if _autocast(kind) != (enabled, dtype):
            torch.set_autocast_enabled(kind, enabled)
            torch.set_autocast_dtype(kind, dtype)
    if torch.are_deterministic_algorithms_enabled() != settings["deterministic"]:
        torch.use_deterministic_algorithms(settings["deterministic"])


def _autocast(kind: str) -> tuple[bool, torch.dtype]:
    return torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)


def _copy(tensor: Tensor) -> Tensor | None:
    if tensor.is_meta:
        return None
    try:
        return tensor.detach().clone()
    except (RuntimeError, ValueError, NotImplementedError):  # lazy: nothing to copy yet
        return None
