"""A shortcut from torch functions written in Python to the recorder."""

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

    from modeldiagrams.tracer.recording.op_recorder import OpRecorder

_BESIDE_CLASSES = PLAIN_TENSORS | {type(None)}
"""Classes of arguments that don't handle calls themselves."""


def wrap_handler(recorder: OpRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `torch.overrides.handle_torch_function`, whose contexts take half as long as recording an op."""

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
