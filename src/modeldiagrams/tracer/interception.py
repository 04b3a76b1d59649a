"""Intercepting calls for the time of one trace, put back whatever happens.

What is intercepted: calling a module, calling ``forward`` of one of the model's classes directly, what torch runs out
of sight, recorded as one op (a `torch.autograd.Function`, a scripted function), and the making of lazy modules'
weights.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.modules.lazy import LazyModuleMixin

from modeldiagrams.tracer import ops
from modeldiagrams.tracer.internals import (
    APPLY_IS_COMPILED,
    COMPILED_CLASS_METHOD,
    FunctionBase,
    FunctionMeta,
    ScriptFunction,
    SingleLevelFunction,
    no_dispatch_modes,
    unseen_by_modes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modeldiagrams.tracer.calls import CallStack
    from modeldiagrams.tracer.recorder import Recorder

__all__ = ["intercepted"]


@contextlib.contextmanager
def intercepted(calls: CallStack, classes: Sequence[type]) -> Iterator[None]:
    """Intercept module calls, direct forward calls and autograd functions, and put everything back.

    Args:
        calls: Is told of the calls.
        classes: Those of the model's modules and their bases.
    """
    with contextlib.ExitStack() as undo:
        # what `__call__` hands over to: to replace a special method of a class costs a walk through all its subclasses
        _replace(undo, nn.Module, "_call_impl", _recording_call(calls, nn.Module.__dict__["_call_impl"]))
        for class_ in filter(_has_forward, classes):
            _replace(undo, class_, "forward", _recording_forward(calls, class_.__dict__["forward"]))
        for class_ in filter(_is_lazy, classes):
            name = "initialize_parameters"
            _replace(undo, class_, name, _hidden_initialisation(calls, class_.__dict__[name]))
        apply = torch.autograd.Function.__dict__["apply"]
        apply = getattr(apply, "__func__", apply)
        _replace(undo, torch.autograd.Function, "apply", classmethod(_recording_apply(calls.recorder, apply)))
        # `cube = Cube.apply`, kept since before the trace, still comes by here
        if APPLY_IS_COMPILED:
            _add(undo, FunctionMeta, "__getattribute__", _recording_lookup(calls.recorder))
        else:
            apply = SingleLevelFunction.__dict__.get("apply") or FunctionBase.__dict__["apply"]
            _add(undo, SingleLevelFunction, "apply", classmethod(_recording_apply(calls.recorder, apply)))
        script_call = ScriptFunction.__call__
        undo.callback(setattr, ScriptFunction, "__call__", script_call)
        ScriptFunction.__call__ = _recording_script(calls.recorder, script_call)
        _add(undo, Tensor, "__init__", _recording_constructor(calls.recorder))
        yield


def _replace(undo: contextlib.ExitStack, owner: type, name: str, replacement: Any) -> None:
    undo.callback(setattr, owner, name, owner.__dict__[name])
    setattr(owner, name, replacement)


def _add(undo: contextlib.ExitStack, owner: type, name: str, addition: Any) -> None:
    """As `_replace`, for what a class inherits; the forward of one traced model may trace another."""
    if name in owner.__dict__:
        _replace(undo, owner, name, addition)
    else:
        undo.callback(delattr, owner, name)
        setattr(owner, name, addition)


def _recording_call(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    recorder = calls.recorder

    @functools.wraps(original)
    def call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        here = recorder.threads.here
        if here.observed and isinstance(self, torch.fx.GraphModule) and not calls.knows(self):
            return original(self, *args, **kwargs)  # made by torch of what a higher-order operator is to run
        if here.is_recording:
            return calls.run(self, original, args, kwargs, direct=False)
        with recorder.on_this_thread(joins=calls.knows(self)) as is_recording:
            if is_recording:
                return calls.run(self, original, args, kwargs, direct=False)
        return original(self, *args, **kwargs)

    return call


def _recording_forward(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    recorder = calls.recorder

    @functools.wraps(original)
    def forward(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        here = recorder.threads.here
        if not here.is_recording:
            return original(self, *args, **kwargs)
        top = here.stack[-1]
        # the same module on top: its own forward, reached through __call__, or its base class's through super()
        if top.module is self and top.forward is not original:
            top.forward = top.forward or original
            return original(self, *args, **kwargs)
        return calls.run(self, original, args, kwargs, direct=True)

    return forward


def _hidden_initialisation(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    """What a lazy module does once, the first time it runs, is no part of what it computes."""

    @functools.wraps(original)
    def initialize_parameters(self: nn.Module, *args: Any, **kwargs: Any) -> None:
        with calls.recorder.out_of_sight(), no_dispatch_modes():  # to fakes, weights cannot be given their shape
            original(self, *args, **kwargs)
            calls.initialised(self)

    return initialize_parameters


def _recording_apply(recorder: Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    def apply(cls: type, *args: Any, **kwargs: Any) -> Any:
        if not recorder.here.is_in_the_open or _runs_modules(cls):
            return original(cls, *args, **kwargs)
        run = original.__get__(None, cls) if isinstance(original, COMPILED_CLASS_METHOD) else partial(original, cls)
        with recorder.out_of_sight():
            return recorder.observe(_function_of(cls), run, args, kwargs)

    return apply


def _recording_lookup(recorder: Recorder) -> Callable[..., Any]:
    """A compiled ``apply`` is out of sight, but looks up the function's ``forward`` to run it."""
    original = FunctionMeta.__getattribute__

    def __getattribute__(cls: type, name: str) -> Any:  # noqa: N807
        found = original(cls, name)
        if name != "forward" or not recorder.here.is_in_the_open or _runs_modules(cls):
            return found

        @functools.wraps(found)
        def forward(*args: Any, **kwargs: Any) -> Any:
            n_own = int(isinstance(args[0], FunctionBase)) if args else 0  # the context, where it is given one
            run = partial(_run_forward, cls, found, args[:n_own])
            with recorder.out_of_sight():
                return recorder.observe(_function_of(cls), run, args[n_own:], kwargs)

        return forward

    return __getattribute__


def _run_forward(_cls: type, forward: Callable[..., Any], own: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
    """Names of arguments are found by the class that comes first, as for ``apply``."""
    return forward(*own, *args, **kwargs)


def _function_of(class_: type) -> ops.Function:
    return ops.Function(class_.__name__, class_.__name__, class_.__name__, writes_any=True, opaque=True)


def _runs_modules(class_: type) -> bool:
    return class_.__module__ == "torch.utils.checkpoint"  # look inside


def _recording_script(recorder: Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        here = recorder.here
        if not here.is_in_the_open:
            return original(self, *args, **kwargs)
        name = str(self.name)
        with recorder.out_of_sight():
            run = partial(original, self)
            return recorder.observe(ops.Function(name, name, name, writes_any=True, opaque=True), run, args, kwargs)

    return __call__


def _recording_constructor(recorder: Recorder) -> Callable[..., Any]:
    """``torch.Tensor([1, 2])`` makes its tensor out of every mode's sight, but then calls this."""
    function = ops.Function("torch.Tensor", "Tensor", "Tensor")

    def __init__(self: Tensor, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        if type(self) is Tensor and recorder.here.is_in_the_open:
            with unseen_by_modes():
                if not recorder.provenance.values(self):
                    recorder.observe(function, lambda *_, **__: self, args, kwargs)

    return __init__


def _has_forward(class_: type) -> bool:
    """Whether a class of modules defines a forward of its own."""
    return (
        issubclass(class_, nn.Module)
        and not issubclass(class_, torch.jit.ScriptModule)
        and inspect.isfunction(class_.__dict__.get("forward"))
    )


def _is_lazy(class_: type) -> bool:
    """Whether a class of lazy modules says itself how their weights are made."""
    return issubclass(class_, LazyModuleMixin) and inspect.isfunction(class_.__dict__.get("initialize_parameters"))
