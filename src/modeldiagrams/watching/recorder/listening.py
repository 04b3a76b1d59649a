"""Reports module calls to listeners; `nn.Module._call_impl` is patched only while there are any.

Hooks would belong to the model: they would be copied, saved and compiled with it, and prevent scripting it.
Patching `nn.Module.__call__` isn't enough: models from `torch.compile` keep calling the original.
"""

# ruff: noqa: SLF001

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
import torch._dynamo  # before patching, because it remembers the functions it finds
import torch.fx._symbolic_trace
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Listener"]


class Listener:
    """Receives the calls of some modules; its exceptions propagate through the model."""

    def listen(self, modules: list[nn.Module]) -> None:
        """Start listening, until `stop`."""
        for module in modules:
            _listeners[id(module)] = (*_listeners.get(id(module), ()), self)
        _patch.begin()

    def stop(self) -> None:
        """Stop listening; without listeners, `nn.Module` is unpatched."""
        for key, own in list(_listeners.items()):
            _listeners[key] = tuple(listener for listener in own if listener is not self)
            if not _listeners[key]:
                del _listeners[key]
        if not _listeners:
            _patch.end()

    @contextlib.contextmanager
    def listens_alone(self, modules: list[nn.Module]) -> Iterator[None]:
        """Listen without reporting calls to other listeners, because these calls are not part of the training."""
        others = {id(module): _listeners.pop(id(module)) for module in modules if id(module) in _listeners}
        self.listen(modules)
        try:
            yield
        finally:
            self.stop()
            _listeners.update(others)
            if others:
                _patch.begin()

    def on_call(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Handle the start of a call."""

    def on_return(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Handle the end of a call; if it raised, the result is None."""

    def on_trace(self) -> None:
        """Handle a call that is being traced and computes no values."""


_listeners: dict[int, tuple[Listener, ...]] = {}
"""By the id() of the module."""


class _CallPatch:
    """Patches `nn.Module` while there are listeners; compiled models may keep calling our function afterwards."""

    def __init__(self) -> None:
        self.plain: Any = nn.Module._call_impl
        self._is_in = False

    def begin(self) -> None:
        if self._is_in and nn.Module._call_impl is not self.plain:  # ours is installed, or wrapped by another patch
            return
        self.plain, self._is_in = nn.Module._call_impl, True
        nn.Module._call_impl = _call  # type: ignore[method-assign]

    def end(self) -> None:
        if nn.Module._call_impl is _call:
            nn.Module._call_impl = self.plain  # type: ignore[method-assign]
            self._is_in = False


_patch = _CallPatch()


def _call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
    if torch.compiler.is_dynamo_compiling():  # so that compiled code omits the rest
        return _patch.plain(self, *args, **kwargs)
    listeners = _listeners.get(id(self))
    if listeners is None:
        return _patch.plain(self, *args, **kwargs)
    if _is_tracing():
        for listener in listeners:
            listener.on_trace()
        return _patch.plain(self, *args, **kwargs)
    return _call_heard(listeners, self, args, kwargs)


def _call_heard(
    listeners: tuple[Listener, ...], module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    for listener in listeners:
        listener.on_call(module, args, kwargs)
    result = None
    try:
        result = _patch.plain(module, *args, **kwargs)
    finally:
        for listener in listeners:
            listener.on_return(module, args, kwargs, result)
    return result


_GRAPH_MODES = (
    torch._C._TorchDispatchModeKey.FAKE,
    torch._C._TorchDispatchModeKey.PROXY,
    torch._C._TorchDispatchModeKey.FUNCTIONAL,
)


def _is_tracing() -> bool:
    return (
        torch._C._get_tracing_state() is not None
        or torch.fx._symbolic_trace._is_fx_tracing_flag
        or any(torch._C._get_dispatch_mode(mode) is not None for mode in _GRAPH_MODES)
    )
