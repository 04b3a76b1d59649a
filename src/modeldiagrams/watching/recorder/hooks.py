"""Listens to module calls and adds hooks to the tensors they return."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import torch

from modeldiagrams.watching.file.records import Key
from modeldiagrams.watching.recorder.listening import Listener
from modeldiagrams.watching.recorder.names import name_inputs, name_outputs
from modeldiagrams.watching.recorder.tensor_sources import Origin, find_origin, find_sources
from modeldiagrams.watching.recorder.units import find_unit_dimension

if TYPE_CHECKING:
    from collections.abc import Collection

    from torch import Tensor, nn

    from modeldiagrams.watching.recorder.names import Names
    from modeldiagrams.watching.recorder.rows import Rows
    from modeldiagrams.watching.recorder.running_calls import CallTracker, RunningCall

__all__ = ["HookedStep", "Hooks", "report_errors"]

_Hook = TypeVar("_Hook", bound=Callable[..., None])
_Places: TypeAlias = "list[tuple[RunningCall, str]]"
"""The calls that returned a tensor, each with the name of that output."""


class HookedStep(Protocol):
    """The recorded step, as hooks see it."""

    log: Collection[str]
    root: nn.Module
    was_traced: bool

    def current(self) -> tuple[CallTracker, Rows] | None:
        """Return the calls and rows of the current phase; None if nothing is measured now."""

    def on_gradient(self) -> None:
        """Handle a gradient that reached a module's output."""

    def fail(self, error: Exception) -> None:
        """Give up on this step."""


def report_errors(hook: _Hook) -> _Hook:
    """Make a hook, which is a method of an object with a `step`, report errors to the step instead of raising them."""

    @functools.wraps(hook)
    def run(self: Any, *args: Any) -> None:
        try:
            hook(self, *args)
        except Exception as error:  # noqa: BLE001 (tensors may be of any class)
            self.step.fail(error)

    return run  # type: ignore[return-value]


class Hooks(Listener):
    """Listens to the modules of a model while a step is recorded.

    Attributes:
        called: The paths of modules that were called.
        edges: Pairs of outputs: the second was computed from the first.
    """

    def __init__(self, step: HookedStep, names: Names, wanted: Callable[[str, nn.Module], bool] | None) -> None:
        self.step, self._names = step, names
        self.called: set[str] = set()
        self._gradients: dict[int, tuple[weakref.ref[Tensor], int, _Places]] = {}
        self.edges: list[tuple[_Places, _Places]] = []
        self._made: dict[Origin, _Places] = {}
        self._handles: list[Any] = []
        self._wanted = wanted
        self.listen([module for path, module in names.modules.items() if self.is_measured(path)])

    def is_measured(self, path: str) -> bool:
        """Whether calls of this module are measured."""
        return self._wanted is None or self._wanted(path, self._names.modules[path])

    def remove(self) -> None:
        """Stop listening, and remove the hooks on tensors."""
        self.stop()
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._gradients.clear()

    @report_errors
    def on_call(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Number the call and measure its inputs."""
        path, current = self._names.path(module), self.step.current()
        if path is None or current is None:
            return
        self.called.add(path)
        calls, rows = current
        call = calls.enter(module, path)
        if "inputs" in self.step.log and call.id is not None:
            for name, tensor in name_inputs(module, args, kwargs):
                rows.add_once(Key(call.id, "input", name), tensor)

    def on_trace(self) -> None:
        """Note that a pass was traced instead of measured."""
        self.step.was_traced = True

    @report_errors
    def on_return(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:  # noqa: ARG002
        """Measure the outputs of the call."""
        current = self.step.current()
        call = current[0].leave(module) if current else None
        if current is None or call is None or result is None:  # it raised
            return
        rows = current[1]
        for name, tensor in name_outputs(result):
            if "activations" in self.step.log and call.id is not None:
                rows.add_once(Key(call.id, "activation", name), tensor, find_unit_dimension(tensor, module))
            if tensor.requires_grad and torch.is_grad_enabled():
                self._await_gradient(call, name, tensor, rows)

    def _await_gradient(self, call: RunningCall, name: str, tensor: Tensor, rows: Rows) -> None:
        version = tensor._version  # noqa: SLF001
        known = self._gradients.get(id(tensor))
        if known is not None and known[0]() is tensor and known[1] == version:
            known[2].append((call, name))
            return
        places = [(call, name)]
        self._gradients[id(tensor)] = (weakref.ref(tensor), version, places)
        self.edges += [(source, places) for source in find_sources(tensor, self._made)]
        self._made[find_origin(tensor)] = places
        handle = tensor.register_hook(_GradientHook(self.step, places, rows))  # type: ignore[no-untyped-call]
        self._handles.append(handle)


class _GradientHook:
    """Measures the gradient of a module's output, without keeping the step alive."""

    def __init__(self, step: HookedStep, places: _Places, rows: Rows) -> None:
        self._step, self._places, self._rows = weakref.ref(step), places, weakref.ref(rows)

    def __call__(self, gradient: Tensor | None) -> None:
        step, rows = self._step(), self._rows()
        if step is None or rows is None:
            return
        try:
            step.on_gradient()
            keys = [Key(call.id, "gradient", name) for call, name in self._places if call.id is not None]
            if keys and gradient is not None and "gradients" in step.log:
                row = rows.add(keys[0], gradient, scaled=True)
                if row is not None:
                    row.keys = keys
        except Exception as error:  # noqa: BLE001 (tensors may be of any class)
            step.fail(error)
