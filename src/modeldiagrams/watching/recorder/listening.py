"""Calls of modules, for those who listen; `nn.Module._call_impl` is another function only while anybody does.

Hooks would be on the model: copied and saved with it, compiled into it, and refused where it is scripted. And
`nn.Module.__call__` is no place for it: what `torch.compile` returns calls the one that it found.
"""

# ruff: noqa: SLF001

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
import torch._dynamo  # before anything is replaced: it remembers what is called
import torch.fx._symbolic_trace
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Listener"]


class Listener:
    """Is told of calls of some modules; what it raises, the model raises."""

    def listen(self, modules: list[nn.Module]) -> None:
        """Begin; ends with `stop`."""
        for module in modules:
            _listeners[id(module)] = (*_listeners.get(id(module), ()), self)
        _replaced.begin()

    def stop(self) -> None:
        """End; without listeners, `nn.Module` is as it was."""
        for key, own in list(_listeners.items()):
            _listeners[key] = tuple(listener for listener in own if listener is not self)
            if not _listeners[key]:
                del _listeners[key]
        if not _listeners:
            _replaced.end()

    @contextlib.contextmanager
    def listens_alone(self, modules: list[nn.Module]) -> Iterator[None]:
        """Listen to calls without reporting them to others: they are not part of the training."""
        others = {id(module): _listeners.pop(id(module)) for module in modules if id(module) in _listeners}
        self.listen(modules)
        try:
            yield
        finally:
            self.stop()
            _listeners.update(others)
            if others:
                _replaced.begin()

    def begins(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A call begins."""

    def ends(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """A call ends; if it raised, the result is None."""

    def is_traced(self) -> None:
        """A call makes a graph, and computes no values."""


_listeners: dict[int, tuple[Listener, ...]] = {}
"""By id of the module."""


class _Replaced:
    """What is replaced while anybody listens; compiled models may call our function for good."""

    def __init__(self) -> None:
        self.plain: Any = nn.Module._call_impl
        self._is_in = False

    def begin(self) -> None:
        if self._is_in and nn.Module._call_impl is not self.plain:  # there, or inside of somebody else's
            return
        self.plain, self._is_in = nn.Module._call_impl, True
        nn.Module._call_impl = _call  # type: ignore[method-assign]

    def end(self) -> None:
        if nn.Module._call_impl is _call:
            nn.Module._call_impl = self.plain  # type: ignore[method-assign]
            self._is_in = False


_replaced = _Replaced()


def _call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
    if torch.compiler.is_dynamo_compiling():  # it leaves out what follows
        return _replaced.plain(self, *args, **kwargs)
    listeners = _listeners.get(id(self))
    if listeners is None:
        return _replaced.plain(self, *args, **kwargs)
    if _makes_graph():
        for listener in listeners:
            listener.is_traced()
        return _replaced.plain(self, *args, **kwargs)
    return _heard(listeners, self, args, kwargs)


def _heard(listeners: tuple[Listener, ...], module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    for listener in listeners:
        listener.begins(module, args, kwargs)
    result = None
    try:
        result = _replaced.plain(module, *args, **kwargs)
    finally:
        for listener in listeners:
            listener.ends(module, args, kwargs, result)
    return result


_GRAPH_MODES = (
    torch._C._TorchDispatchModeKey.FAKE,
    torch._C._TorchDispatchModeKey.PROXY,
    torch._C._TorchDispatchModeKey.FUNCTIONAL,
)


def _makes_graph() -> bool:
    return (
        torch._C._get_tracing_state() is not None
        or torch.fx._symbolic_trace._is_fx_tracing_flag
        or any(torch._C._get_dispatch_mode(mode) is not None for mode in _GRAPH_MODES)
    )
