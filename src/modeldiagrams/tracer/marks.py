"""A trace leaves no mark: what a forward changes is put back, also when it raised."""

from __future__ import annotations

import contextlib
import operator
import random
import sys
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from modeldiagrams.tracer.internals import (
    memory_key,
    modules_of,
    own_buffers,
    own_parameters,
    set_version,
    version_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Keeper", "untouched"]

_CONTAINERS = frozenset({dict, OrderedDict, list, set})


@dataclass(slots=True)
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
        for _, module in modules_of(model):
            for parameter in own_parameters(module).values():
                self._keep(parameter, copy=False)
            for buffer in own_buffers(module).values():
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
        if id(tensor) not in self._kept:
            copied = _copy(tensor) if copy else None
            grad = tensor.grad if tensor.is_leaf else None
            kept = _Kept(tensor, type(tensor), version_of(tensor), tensor.requires_grad, grad, copied)
            self._kept[id(tensor)] = self._by_memory[memory_key(tensor)] = kept

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
            modules = {id(module): module for _, module in modules_of(model)}
            undo.callback(_restore_modules, [_ModuleState.of(module) for module in modules.values()])
        undo.callback(_restore_random, _random_state())
        undo.callback(_restore_settings, _settings())
        yield keeper


@dataclass(slots=True)
class _ModuleState:
    """The attributes of a module, and what was in those that are plain containers: hooks, parameters, caches."""

    module: nn.Module
    class_: type
    attributes: dict[str, Any]
    contents: list[tuple[Any, Any]]
    """Container and a copy of it, None for empty ones: most are hooks, and empty."""

    @classmethod
    def of(cls, module: nn.Module) -> _ModuleState:
        attributes = vars(module).copy()
        containers = [value for value in attributes.values() if type(value) in _CONTAINERS]
        return cls(module, type(module), attributes, [(value, value.copy() if value else None) for value in containers])

    def restore(self) -> None:
        if type(self.module) is not self.class_:
            self.module.__class__ = self.class_  # lazy modules turn into others
        attributes = vars(self.module)
        if not _same(attributes, self.attributes):
            attributes.clear()
            attributes.update(self.attributes)
        for container, content in self.contents:
            if content is not None:
                _restore_container(container, content)
            elif container:
                container.clear()


def _restore_modules(states: list[_ModuleState]) -> None:
    for state in states:
        state.restore()


def _restore_container(value: Any, content: Any) -> None:
    if isinstance(value, list):
        value[:] = content
    elif isinstance(value, set) or not _same(value, content):
        value.clear()
        value.update(content)


def _same(now: dict[Any, Any], before: dict[Any, Any]) -> bool:
    """Whether both hold the very same objects in the same order."""
    return (
        len(now) == len(before)
        and all(map(operator.is_, now.values(), before.values()))
        and all(map(operator.is_, now, before))
    )


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
