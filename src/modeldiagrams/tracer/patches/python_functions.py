"""Torch's functions that are written in Python, shown to the recorder in fewer steps than torch takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.torch_facts.private_api import (
    PLAIN_TENSORS,
    has_function_mode,
    pop_function_mode,
    push_function_mode,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.tracer.recording.recorder import Recorder

_BESIDE_CLASSES = PLAIN_TENSORS | {type(None)}
"""Classes of arguments that have no say in who handles a call."""


def shown(recorder: Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.overrides.handle_torch_function`: its own way through contexts takes as long as half of a recorded op."""

    def handle(function: Callable[..., Any], relevant: Any, /, *args: Any, **kwargs: Any) -> Any:
        if type(relevant) is tuple and has_function_mode() and _BESIDE_CLASSES.issuperset(map(type, relevant)):
            mode = pop_function_mode()
            try:
                result = recorder.__torch_function__(function, (), args, kwargs) if mode is recorder else NotImplemented
            finally:
                push_function_mode(mode)
            if result is not NotImplemented:
                return result
        return original(function, relevant, *args, **kwargs)

    return handle
