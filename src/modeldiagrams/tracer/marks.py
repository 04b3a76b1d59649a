"""A trace leaves no mark: what a forward changes is put back, also when it raised."""

from __future__ import annotations

import contextlib
import operator
import random
import sys
from collections import OrderedDict, deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.modules import module as torch_modules

from modeldiagrams.tracer.internals import (
    MODES,
    InferenceMode,
    default_device,
    memory_key,
    no_dispatch_modes,
    own_buffers,
    own_parameters,
    set_default_device,
    set_tensor_hooks,
    set_version,
    tensor_hooks,
    version_of,
)
from modeldiagrams.tracer.walk import find_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Keeper", "modes_left", "untouched"]

_CONTAINERS = frozenset({dict, OrderedDict, list, set, deque})
_ATOMS = frozenset({str, int, float, bool, type(None)})
_LIBRARIES = frozenset({"torch", "numpy", *sys.stdlib_module_names})
_MAX_DEPTH = 6
_MAX_ITEMS = 4096
_GLOBAL_HOOKS = [
    hooks for name, hooks in vars(torch_modules).items() if name.startswith("_global_") and isinstance(hooks, dict)
]
_left_open: list[Any] = []
"""What a forward left open and only an opposite can close; that has to stay."""


@dataclass(slots=True)
class _Kept:
    """A tensor as it was."""

    tensor: Tensor
    class_: type
    version: int | None
    requires_grad: bool
    grad: Tensor | None
    hooks: tuple[Any, Any]
    copy: Tensor | None = None
    same: Tensor | None = None
    """Another tensor on the same memory, for one that was given other memory."""

    def remember(self) -> None:
        """Take a copy."""
        self.same = _quietly(Tensor.detach, self.tensor)
        self.copy = None if self.same is None or self.tensor.is_meta else _quietly(Tensor.clone, self.same)


class Keeper:
    """Remembers tensors of a model and its inputs and puts their content back.

    Buffers are copied at once: some functions write them silently (batch norm). Parameters and inputs, which are big,
    are copied when something is about to write to them.
    """

    def __init__(self, modules: Sequence[nn.Module], inputs: Any) -> None:
        self._kept: dict[int, _Kept] = {}
        self._by_memory: dict[int, list[_Kept]] = {}
        for module in modules:
            for parameter in own_parameters(module).values():
                self._keep(parameter)
            for buffer in own_buffers(module).values():
                self._keep(buffer).remember()
        for _, tensor in find_tensors(inputs, into_objects=True):
            self._keep(tensor)

    def before_write(self, tensor: Tensor) -> None:
        """Something is about to write to this tensor, perhaps a view of a parameter."""
        for kept in self._by_memory.get(_memory(tensor), ()):
            if kept.same is None:
                with no_dispatch_modes():
                    kept.remember()

    def restore(self) -> None:
        """Put everything back."""
        with torch.no_grad():
            for kept in self._kept.values():
                self._restore(kept)

    def _keep(self, tensor: Tensor) -> _Kept:
        kept = self._kept.get(id(tensor))
        if kept is None:
            grad = tensor.grad if tensor.is_leaf else None
            hooks = tensor_hooks(tensor)
            kept = _Kept(
                tensor, type(tensor), version_of(tensor), tensor.requires_grad, grad, (hooks, hooks and hooks.copy())
            )
            self._kept[id(tensor)] = kept
            self._by_memory.setdefault(_memory(tensor), []).append(kept)
        return kept

    def _restore(self, kept: _Kept) -> None:
        tensor = kept.tensor
        if type(tensor) is not kept.class_:  # a lazy parameter was given its shape
            tensor.data = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
            tensor.__class__ = kept.class_
        if kept.same is not None and not _looks_into(tensor, kept.same):
            tensor.data = kept.same
        # batch norm writes its statistics without counting it as a write
        if kept.copy is not None and not _quietly(torch.equal, tensor, kept.copy):
            tensor.copy_(kept.copy)
        if kept.version is not None and version_of(tensor) != kept.version:
            set_version(tensor, kept.version)
        hooks, content = kept.hooks
        if tensor_hooks(tensor) is not hooks:
            set_tensor_hooks(tensor, hooks)
        if hooks is not None:
            _restore_container(hooks, content)
        if tensor.is_leaf:
            if tensor.requires_grad != kept.requires_grad:
                tensor.requires_grad_(kept.requires_grad)
            tensor.grad = kept.grad


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
        self._attributes = [(module, type(module), vars(module).copy()) for module in modules]
        self._empty: list[Any] = []
        """Most containers: they are for hooks."""
        self._filled: list[tuple[Any, Any]] = []
        """A container and a copy of it."""
        entered: set[int] = set()  # modules may share what they hold: a configuration
        for _, _, attributes in self._attributes:
            for value in attributes.values():
                kind = type(value)
                if kind in _CONTAINERS and not value:
                    self._empty.append(value)
                elif kind not in _ATOMS:
                    _add_contents(value, self._filled, entered)

    def restore(self) -> None:
        for module, class_, attributes in self._attributes:
            if type(module) is not class_:
                module.__class__ = class_  # lazy modules turn into others
            now = vars(module)
            if not _same(now, attributes):
                now.clear()
                now.update(attributes)
        for container in filter(None, self._empty):
            container.clear()
        for container, content in self._filled:
            _restore_container(container, content)


def _add_contents(value: Any, contents: list[tuple[Any, Any]], entered: set[int], depth: int = 0) -> None:
    """Add copies of a container and of those in it; an object of the user's own is its dict."""
    container = value if type(value) in _CONTAINERS else _own_attributes(value)
    if container is None or id(container) in entered:
        return
    entered.add(id(container))
    contents.append((container, container.copy()))
    if depth < _MAX_DEPTH and 0 < len(container) <= _MAX_ITEMS:
        for item in container.values() if isinstance(container, dict) else container:
            if type(item) not in _ATOMS:
                _add_contents(item, contents, entered, depth + 1)


def _own_attributes(value: Any) -> dict[str, Any] | None:
    """The attributes of a plain object: a cache, a configuration. None for what torch and Python look after."""
    kind = type(value)
    if isinstance(value, Tensor | nn.Module | type) or kind.__module__.partition(".")[0] in _LIBRARIES:
        return None
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return attributes if type(attributes) is dict else None


def _restore_container(value: Any, content: Any) -> None:
    if isinstance(value, list):
        value[:] = content
    elif isinstance(value, deque):
        value.clear()
        value.extend(content)
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
        _restore_container(hooks, content)


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


def _memory(tensor: Tensor) -> int:
    """What tells one tensor's memory from another's; a tensor without memory of its own stands for itself."""
    return memory_key(tensor) or id(tensor)


def _looks_into(tensor: Tensor, other: Tensor) -> bool:
    """Whether both show the same elements of the same memory."""
    if memory_key(tensor) is None:
        return tensor.shape == other.shape
    return (
        memory_key(tensor) == memory_key(other)
        and tensor.dtype == other.dtype
        and tensor.shape == other.shape
        and tensor.stride() == other.stride()
        and tensor.storage_offset() == other.storage_offset()
    )


def _quietly(run: Callable[..., Any], *args: Any) -> Any:
    """What comes out, or None: lazy tensors have no content yet, and not every kind of tensor can do everything."""
    try:
        return run(*args)
    except (RuntimeError, ValueError, NotImplementedError):
        return None
