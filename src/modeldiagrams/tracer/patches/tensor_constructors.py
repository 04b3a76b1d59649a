"""Tensors that are made where no mode of torch sees it: by their class, or from memory of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from modeldiagrams.tracer.recording.boundary import record_import
from modeldiagrams.tracer.torch_facts.functions import Function
from modeldiagrams.tracer.torch_facts.private_api import unseen_by_modes

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.tracer.recording.recorder import Recorder

__all__ = ["recorded_constructor", "recorded_import"]


def recorded_constructor(recorder: Recorder) -> Callable[..., Any]:
    """``torch.Tensor([1, 2])`` makes its tensor unseen by every mode, but then calls this."""
    function = Function("torch.Tensor", "Tensor", "Tensor")

    def __init__(self: Tensor, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        if type(self) is Tensor and recorder.context.records_ops:
            with unseen_by_modes():
                if not recorder.provenance.values(self):
                    recorder.observe(function, lambda *_, **__: self, args, kwargs)

    return __init__


def recorded_import(recorder: Recorder, original: Callable[..., Any], argument: str) -> Callable[..., Any]:
    """`torch.from_numpy` and the like, recorded as ops.

    Args:
        recorder: Records the pass.
        original: The function.
        argument: Its name for what the tensor is made of.
    """

    def imported(*args: Any, **kwargs: Any) -> Any:
        tensor = original(*args, **kwargs)
        if recorder.context.records_ops:
            with unseen_by_modes():
                record_import(recorder, original.__name__, argument, tensor)
        return tensor

    return imported
