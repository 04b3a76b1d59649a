"""What limits a pass on fake tensors: the number of its operators, and their dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from modeldiagrams.tracer.fake.kernel_checks import check_dtypes
from modeldiagrams.tracer.recording.work_limit import count_call, is_query

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Steps"]

_UNBIND = torch.ops.aten.unbind.int
"""What a loop over the rows of a tensor calls."""
_ITEM = torch.ops.aten._local_scalar_dense.default  # noqa: SLF001  (its name)
_MOST_OPERATORS = 8_000
"""Of a pass on fake tensors."""


class Steps(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Refuses what kernels would, in a pass on fake tensors, and ends one that has too many operators.

    Recurrent layers have some for every step.
    """

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        if func is _ITEM and type(args[0]) in (torch.Tensor, torch.nn.Parameter) and not args[0].is_meta:
            with _disable_current_modes():  # a number that the model has, which no input changes
                return func(*args)
        if is_query(func):  # must not fail
            return func(*args, **(kwargs or {}))
        self.count += 1
        count_call(func)
        if self.count > _MOST_OPERATORS or (func is _UNBIND and _parts(*args, **(kwargs or {})) > _MOST_OPERATORS):
            raise RuntimeError("this pass has too many steps")
        check_dtypes(func, args)
        return func(*args, **(kwargs or {}))


def _parts(tensor: Any, dim: int = 0) -> int:
    return int(tensor.shape[dim]) if -tensor.dim() <= dim < tensor.dim() else 0  # PyTorch says what is wrong
