"""Checks in every step that values are finite, and finds the layer where they stopped being so.

Before each optimizer step, a few small gradients are checked: NaN and infinity spread to all layers before the one they
come from. Only if some are not finite, the pass runs again with the same inputs and parameters, to find the first
module whose output isn't finite.
"""

from __future__ import annotations

import contextlib
import warnings
import weakref
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.autograd.grad_mode import _unsafe_preserve_version_counter
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils._pytree import tree_flatten, tree_unflatten

from modeldiagrams.common.random_state import random_state_restored
from modeldiagrams.watching.recorder.listening import Listener
from modeldiagrams.watching.recorder.names import Names, name_inputs, name_outputs
from modeldiagrams.watching.recorder.parameters import list_parameters
from modeldiagrams.watching.recorder.running_calls import CallTracker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Tripwire"]

_Found: TypeAlias = tuple[str, str, str, str]
"""Node, kind of tensor, its name, a sentence."""
_SMALL = 4096
_FEW = 16


class Tripwire(Listener):
    """Checks every step until something isn't finite.

    Attributes:
        is_done: Whether it found something and may be removed.
        optimizers: All optimizers that made a step since the start.
    """

    def __init__(self, model: nn.Module, report: Callable[[str, str, str, str], None], *, can_repeat: bool) -> None:
        """Start checking.

        Args:
            model: The watched model.
            report: Called once, with node, kind of tensor, its name and a sentence.
            can_repeat: Whether a pass can be run again: it is neither distributed nor compiled.
        """
        self._model, self._report = weakref.ref(model), weakref.WeakMethod(report)  # global hooks would keep them alive
        self._inputs: tuple[Any, Any, Any] | None = None
        self.is_done = False
        self.optimizers = weakref.WeakSet[torch.optim.Optimizer]()
        self._handles = [register_optimizer_step_pre_hook(self._before_step)]
        if can_repeat:
            self.listen([model])

    def remove(self) -> None:
        """Stop checking."""
        self.stop()
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._inputs = None

    def on_return(self, module: nn.Module, args: Any, kwargs: Any, result: Any) -> None:  # noqa: ARG002
        """Remember the arguments of the model."""
        if module is self._model() and not self.is_done and torch.is_grad_enabled():
            context = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
            self._inputs = None
            with contextlib.suppress(Exception):  # classes may register their own flattening, which may raise
                values, structure = tree_flatten((args, kwargs))
                self._inputs = [_weak(value) for value in values], structure, context

    def _before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:  # noqa: ARG002
        self.optimizers.add(optimizer)
        try:
            self._check(optimizer)
        except Exception as error:  # noqa: BLE001 (training goes on)
            self.is_done = True
            text = f"modeldiagrams.watch no longer checks for non-finite values: {type(error).__name__}: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def _check(self, optimizer: torch.optim.Optimizer) -> None:
        model, report = self._model(), self._report()
        is_scaled = getattr(optimizer, "found_inf", None) is not None  # a fused optimizer skips such a step itself
        if model is None or report is None or self.is_done or is_scaled:
            return
        gradients = list(_pick_gradients(optimizer, {id(parameter) for parameter in model.parameters()}))
        if gradients and not _are_finite(gradients):
            self.is_done = True  # hooks can't be removed while they run
            found, order = None, list[str]()
            if self._inputs:
                with contextlib.suppress(Exception):  # an error in the repeated pass must not stop the training
                    found, order = _repeat(model, self._inputs)
            report(*(found or _find_by_gradients(Names(model), order)))


def _repeat(model: nn.Module, inputs: tuple[Any, Any, Any]) -> tuple[_Found | None, list[str]]:
    """Run a pass again; return the first output that isn't finite, and the modules in the order of their returns."""
    weak, structure, (is_enabled, dtype) = inputs
    values = [_strong(value) for value in weak]
    if any(value is _GONE for value in values):
        return None, []
    args, kwargs = tree_unflatten(values, structure)
    repeated = _RepeatedPass(model)
    with _model_restored(model), torch.no_grad(), torch.autocast("cpu", dtype, enabled=is_enabled):
        repeated.run(model, args, kwargs)
    return repeated.found, repeated.order


_GONE = object()
"""Replaces an input that no longer exists."""


def _weak(value: Any) -> Any:
    """Return a reference that keeps neither a tensor nor an object with tensors alive."""
    try:
        return weakref.ref(value)
    except TypeError:  # a number, a string, None
        return value


def _strong(value: Any) -> Any:
    """Return the value of a reference; a copy of a tensor, because the model may change its inputs in place."""
    if not isinstance(value, weakref.ref):
        return value
    found = value()
    if found is None:
        return _GONE
    return found.detach().clone() if isinstance(found, Tensor) else found


class _RepeatedPass(Listener):
    """Checks the outputs of modules in a repeated pass."""

    def __init__(self, model: nn.Module) -> None:
        self._names = Names(model)
        self._calls = CallTracker(self._names, model)
        self.found: _Found | None = None
        self.order: list[str] = []

    def run(self, model: nn.Module, args: Any, kwargs: Any) -> None:
        for name, tensor in name_inputs(model, args, kwargs):
            if not _is_finite(tensor):
                self.found = ("", "input", name, f"the input {name} is not finite")
                return
        with self.listens_alone([*self._names.modules.values()]), contextlib.suppress(Exception):
            model(*args, **kwargs)  # if the model raises, there is nothing more to find

    def on_call(self, module: nn.Module, args: Any, kwargs: Any) -> None:  # noqa: ARG002
        """Number the call."""
        self._calls.enter(module, self._names.path(module) or "")

    def on_return(self, module: nn.Module, args: Any, kwargs: Any, result: Any) -> None:  # noqa: ARG002
        """Check the outputs of the call."""
        call = self._calls.leave(module)
        node = (call and call.id) or ""
        self.order.append(self._names.path(module) or "")
        for name, tensor in name_outputs(result):
            if self.found is None and not _is_finite(tensor):
                self.found = (node, "activation", name, f"the output of {node or 'the model'} is not finite")


@contextlib.contextmanager
def _model_restored(model: nn.Module) -> Iterator[None]:
    """Restore what a pass may change: buffers, attributes of modules and random states.

    The versions of buffers are restored too: autograd may need the buffers for another loss of the step.
    """
    buffers = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]
    attributes = [(of, dict(of)) for module in model.modules() for of in (vars(module), module._buffers)]  # noqa: SLF001
    with contextlib.ExitStack() as versions, random_state_restored():
        for buffer, _ in buffers:
            if not buffer.is_inference():
                versions.enter_context(_unsafe_preserve_version_counter(buffer))
        try:
            yield
        finally:
            for of, were in attributes:
                of.clear()
                of.update(were)
            for buffer, before in buffers:
                with torch.no_grad(), contextlib.suppress(RuntimeError):  # expanded buffers can't be written
                    buffer.copy_(before)


def _pick_gradients(optimizer: torch.optim.Optimizer, own: set[int]) -> Iterator[Tensor]:
    """Yield a few small gradients from all over the model; if there are none, one large gradient."""
    gradients = [p.grad for p in list_parameters(optimizer) if p.grad is not None and id(p) in own]
    plain = [g for g in gradients if g.layout is torch.strided and type(g) is Tensor and g.device.type == "cpu"]
    small = [gradient for gradient in plain if gradient.numel() <= _SMALL] or plain[:1]
    yield from small[:: -(-len(small) // _FEW) or 1]
    if small:
        yield small[-1]


def _are_finite(gradients: list[Tensor]) -> bool:
    norms = torch._foreach_norm(gradients)  # noqa: SLF001
    is_finite = bool(torch.isfinite(torch.stack([norm.float() for norm in norms]).sum()))
    return is_finite or all(_is_finite(gradient) for gradient in gradients)  # squares overflow long before values do


def _is_finite(tensor: Tensor) -> bool:
    return not tensor.is_floating_point() or bool(torch.isfinite(tensor).all())


def _find_by_gradients(names: Names, order: list[str]) -> _Found:
    """Find the last module of a repeated pass that has a non-finite gradient; without an order, none."""
    for path in order[::-1]:
        for name, parameter in names.modules[path].named_parameters(recurse=False):
            if parameter.grad is not None and not parameter.grad.is_sparse and not _is_finite(parameter.grad):
                text = f"the gradient of {path}.{name} is not finite, though all outputs are".replace(" .", " ")
                return path, "parameter_gradient", name, text
    return "", "loss", "", "gradients are not finite"
