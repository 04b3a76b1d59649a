"""Functions that no mode can look into: `torch.autograd.Function` and scripted functions are one op each."""

from __future__ import annotations

import functools
from functools import partial
from typing import TYPE_CHECKING, Any

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

    from modeldiagrams.tracer.recording.recorder import Recorder

__all__ = ["handed_to_mode", "hidden", "recorded_apply", "recorded_lookup", "recorded_script"]


def recorded_apply(recorder: Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.autograd.Function.apply`."""

    def apply(cls: type, *args: Any, **kwargs: Any) -> Any:
        if not recorder.context.records_ops or _runs_modules(cls):
            return original(cls, *args, **kwargs)
        run = original.__get__(None, cls) if isinstance(original, COMPILED_CLASS_METHOD) else partial(original, cls)
        with recorder.hidden():
            return recorder.observe(_function_of(cls), run, args, kwargs)

    return apply


def recorded_lookup(recorder: Recorder) -> Callable[..., Any]:
    """A compiled ``apply`` can't be replaced, but looks up the function's ``forward`` to run it."""
    original = FunctionMeta.__getattribute__

    def __getattribute__(cls: type, name: str) -> Any:  # noqa: N807
        found = original(cls, name)
        if name != "forward" or not recorder.context.records_ops or _runs_modules(cls):
            return found

        @functools.wraps(found)
        def forward(*args: Any, **kwargs: Any) -> Any:
            n_own = int(isinstance(args[0], FunctionBase)) if args else 0  # the context, if forward takes one
            run = partial(_run_forward, cls, found, args[:n_own])
            with recorder.hidden():
                return recorder.observe(_function_of(cls), run, args[n_own:], kwargs)

        return forward

    return __getattribute__


def _run_forward(_cls: type, forward: Callable[..., Any], own: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
    """Takes the class first, as ``apply`` does: by it, the names of arguments are found."""
    return forward(*own, *args, **kwargs)


def _function_of(class_: type) -> Function:
    return Function(class_.__name__, class_.__name__, class_.__name__, writes_any=True, opaque=True)


def _runs_modules(class_: type) -> bool:
    return class_.__module__ == "torch.utils.checkpoint"  # look inside


def recorded_script(recorder: Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """``function(...)`` of a scripted function."""

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        context = recorder.context
        if not context.records_ops:
            return original(self, *args, **kwargs)
        name = str(self.name)
        with recorder.hidden():
            run = partial(original, self)
            return recorder.observe(Function(name, name, name, writes_any=True, opaque=True), run, args, kwargs)

    return __call__


def hidden(recorder: Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, without recording anything it runs."""

    def run(*args: Any, **kwargs: Any) -> Any:
        with recorder.hidden(), no_dispatch_modes(), unseen_by_modes():
            return original(*args, **kwargs)

    return run


def handed_to_mode(operator: Any) -> Callable[..., Any]:
    """A handler of a higher-order operator (`torch.cond`) that leaves it to the mode."""

    def handler(mode: Any, *args: Any, **kwargs: Any) -> Any:
        return mode.__torch_dispatch__(operator, (), args, kwargs)

    return handler
