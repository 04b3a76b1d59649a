"""Hooks on modules and on what they return; on the model only while a step is recorded."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import torch

from modeldiagrams.watching.file.records import Key
from modeldiagrams.watching.recorder.names import named_inputs, named_outputs
from modeldiagrams.watching.recorder.units import unit_dimension

if TYPE_CHECKING:
    from collections.abc import Collection

    from torch import Tensor, nn

    from modeldiagrams.watching.recorder.calls import Call, Calls
    from modeldiagrams.watching.recorder.names import Names
    from modeldiagrams.watching.recorder.rows import Rows

__all__ = ["Hooks", "Step", "safely"]

_Hook = TypeVar("_Hook", bound=Callable[..., None])


class Step(Protocol):
    """What hooks need of the recorded step."""

    log: Collection[str]
    root: nn.Module

    def current(self) -> tuple[Calls, Rows] | None:
        """Calls and rows of the phase that is running; None if nothing is to be measured."""

    def gradient_arrived(self) -> None:
        """A gradient reached a module's output."""

    def fail(self, error: Exception) -> None:
        """Give up on this step."""


def safely(hook: _Hook) -> _Hook:
    """A hook, a method of an object with a `step`, that lets training go on whatever happens in it."""

    @functools.wraps(hook)
    def run(self: Any, *args: Any) -> None:
        try:
            hook(self, *args)
        except Exception as error:  # noqa: BLE001 (tensors of any class come here)
            self.step.fail(error)

    return run  # type: ignore[return-value]


_NOTHING: Callable[..., None] = contextlib.nullcontext().__exit__
"""The hook of a copy; a checkpoint that was saved with it can be read where this package is not installed."""


class _ModuleHook:
    """A hook that isn't copied or saved with its module."""

    def __init__(self, run: Callable[..., None]) -> None:
        self._run = run

    def __call__(self, *args: Any) -> None:
        self._run(*args)

    def __deepcopy__(self, memo: object) -> Callable[..., None]:
        return _NOTHING

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (contextlib.nullcontext(), "__exit__")


class Hooks:
    """Hooks on the modules of a model.

    Attributes:
        called: Paths of modules that were called.
    """

    def __init__(self, step: Step, names: Names, wanted: Callable[[str, nn.Module], bool] | None) -> None:
        self.step, self._names = step, names
        self.called: set[str] = set()
        self._gradients: dict[int, tuple[weakref.ref[Tensor], int, list[Key]]] = {}
        self._handles: list[Any] = []
        self._wanted = wanted
        for path, module in names.modules.items():
            if self.hooks(path):
                self._handles += (
                    module.register_forward_pre_hook(_ModuleHook(self._before), with_kwargs=True),
                    module.register_forward_hook(_ModuleHook(self._after), with_kwargs=True, always_call=True),
                )

    def hooks(self, path: str) -> bool:
        """Whether calls of this module are measured."""
        return self._wanted is None or self._wanted(path, self._names.modules[path])

    def remove(self) -> None:
        """Leave the model as it was."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._gradients.clear()

    @safely
    def _before(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        path, current = self._names.path(module), self.step.current()
        if path is None or current is None:
            return
        self.called.add(path)
        calls, rows = current
        inputs = list(named_inputs(module, args, kwargs))
        call = calls.enter(module, path, inputs[0][1] if inputs else None)
        if "inputs" in self.step.log and call is not None and not call.is_repeated:
            for name, tensor in inputs:
                rows.add_once(Key(call.id, "input", name), tensor)

    @safely
    def _after(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:  # noqa: ARG002
        current = self.step.current()
        call = current[0].leave(module) if current else None
        if current is None or call is None or result is None:  # it raised
            return
        rows = current[1]
        for name, tensor in named_outputs(result):
            if "activations" in self.step.log and not call.is_repeated:
                rows.add_once(Key(call.id, "activation", name), tensor, unit_dimension(tensor, module))
            if tensor.requires_grad and torch.is_grad_enabled():
                self._await_gradient(Key(call.id, "gradient", name), tensor, rows, call)

    def _await_gradient(self, key: Key, tensor: Tensor, rows: Rows, call: Call) -> None:
        if call.is_repeated and not call.id:
            return
        version = tensor._version  # noqa: SLF001
        known = self._gradients.get(id(tensor))
        if known is not None and known[0]() is tensor and known[1] == version:
            known[2].append(key)
            return
        keys = [key]
        self._gradients[id(tensor)] = (weakref.ref(tensor), version, keys)
        handle = tensor.register_hook(_GradientHook(self.step, keys, rows))  # type: ignore[no-untyped-call]
        self._handles.append(handle)


class _GradientHook:
    """Measures the gradient at a module's output; keeps the step alive no longer than it lasts."""

    def __init__(self, step: Step, keys: list[Key], rows: Rows) -> None:
        self._step, self._keys, self._rows = weakref.ref(step), keys, weakref.ref(rows)

    def __call__(self, gradient: Tensor | None) -> None:
        step, rows = self._step(), self._rows()
        if step is None or rows is None:
            return
        try:
            step.gradient_arrived()
            if gradient is not None and "gradients" in step.log:
                row = rows.add(self._keys[0], gradient, scaled=True)
                if row is not None:
                    row.keys = [*self._keys]
        except Exception as error:  # noqa: BLE001 (tensors of any class come here)
            step.fail(error)
