"""Wrappers for functions that modes don't see, or can't look into: autograd functions, scripted functions, imports."""

from __future__ import annotations

import functools
from functools import partial
from typing import TYPE_CHECKING, Any

from torch import Tensor

from modeldiagrams.common.class_facts import get_full_name
from modeldiagrams.tracer.recording.boundary import record_import
from modeldiagrams.tracer.torch_facts.functions import Function
from modeldiagrams.tracer.torch_facts.private_api import (
    COMPILED_CLASS_METHOD,
    FunctionBase,
    FunctionMeta,
    no_dispatch_modes,
    unseen_by_modes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modeldiagrams.tracer.recording.op_recorder import OpRecorder


def wrap_apply(recorder: OpRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `torch.autograd.Function.apply`, to record one op."""

    def apply(cls: type, *args: Any, **kwargs: Any) -> Any:
        if not recorder.context.records_ops or _is_open(cls, recorder):
            return original(cls, *args, **kwargs)
        run = original.__get__(None, cls) if isinstance(original, COMPILED_CLASS_METHOD) else partial(original, cls)
        if _only_passes_on(cls):
            return wrap_gathering(recorder, run)(*args, **kwargs)
        return _observed_unless_opened(recorder, cls, run, args, kwargs)

    return apply


def wrap_forward_lookup(recorder: OpRecorder) -> Callable[..., Any]:
    """Wrap the lookup of ``forward`` by a compiled ``apply``, which can't be replaced itself."""
    original = FunctionMeta.__getattribute__

    def __getattribute__(cls: type, name: str) -> Any:  # noqa: N807
        found = original(cls, name)
        if name != "forward" or not recorder.context.records_ops or _is_open(cls, recorder):
            return found
        if _only_passes_on(cls):
            return wrap_gathering(recorder, found)

        @functools.wraps(found)
        def forward(*args: Any, **kwargs: Any) -> Any:
            n_own = int(isinstance(args[0], FunctionBase)) if args else 0  # 1 if forward takes the context
            run = partial(_run_forward, cls, found, args[:n_own])
            return _observed_unless_opened(recorder, cls, run, args[n_own:], kwargs)

        return forward

    return __getattribute__


def _run_forward(_cls: type, forward: Callable[..., Any], own: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
    """Run forward; takes the class first, like ``apply``, because the names of arguments are found by it."""
    return forward(*own, *args, **kwargs)


def _observed_unless_opened(
    recorder: OpRecorder, class_: type, run: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """Record one op, and note if that hides how modules inside are connected: then another pass shows all ops."""
    start = len(recorder.recording.steps)
    try:
        return _observed(recorder, class_.__name__, run, args, kwargs)
    finally:
        if recorder.recording.has_calls_since(recorder.context.stack[-1], start):
            recorder.opened.add(get_full_name(class_))


def _observed(recorder: OpRecorder, name: str, run: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    with recorder.hide_ops():
        return recorder.observe(
            recorder.threads.context, Function(name, name, name, writes_any=True, opaque=True), run, args, kwargs
        )


def wrap_gathering(recorder: OpRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of FSDP, none of whose ops is the model's."""

    def run(*args: Any, **kwargs: Any) -> Any:
        with recorder.hide_ops():
            return original(*args, **kwargs)

    return run


def _is_open(class_: type, recorder: OpRecorder) -> bool:
    return get_full_name(class_) in recorder.opened or class_.__module__ == "torch.utils.checkpoint"


def _only_passes_on(class_: type) -> bool:
    return class_.__module__.startswith("torch.distributed.fsdp.")  # to be called in the backward pass


def wrap_script(recorder: OpRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the call of a scripted function, to record one op."""

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        if not recorder.context.records_ops:
            return original(self, *args, **kwargs)
        return _observed(recorder, str(self.name), partial(original, self), args, kwargs)

    return __call__


def wrap_constructor(recorder: OpRecorder) -> Callable[..., Any]:
    """Make ``Tensor.__init__``: modes don't see how ``torch.Tensor([1, 2])`` makes its tensor, but it calls this."""
    function = Function("torch.Tensor", "Tensor", "Tensor")

    def __init__(self: Tensor, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        if type(self) is Tensor and recorder.context.records_ops:
            with unseen_by_modes():
                if not recorder.tracker.values(self):
                    recorder.observe(recorder.threads.context, function, lambda *_, **__: self, args, kwargs)

    return __init__


def wrap_import(recorder: OpRecorder, original: Callable[..., Any], argument: str) -> Callable[..., Any]:
    """Wrap a function like `torch.from_numpy`, whose tensor uses memory of this argument."""

    def imported(*args: Any, **kwargs: Any) -> Any:
        tensor = original(*args, **kwargs)
        if recorder.context.records_ops:
            with unseen_by_modes():
                record_import(recorder, original.__name__, argument, tensor)
        return tensor

    return imported


def wrap_hidden(recorder: OpRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that nothing it runs is recorded."""

    def run(*args: Any, **kwargs: Any) -> Any:
        with recorder.hide_ops(), no_dispatch_modes(), unseen_by_modes():
            return original(*args, **kwargs)

    return run


def hand_to_mode(operator: Any) -> Callable[..., Any]:
    """Make a handler of a higher-order operator, such as `torch.cond`, that hands it to the mode."""
    return lambda mode, *args, **kwargs: mode.__torch_dispatch__(operator, (), args, kwargs)
