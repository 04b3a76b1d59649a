"""What takes the place of methods of fake tensors and of torch's functions for them; see `table` for the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.overrides import handle_torch_function, has_torch_function

from modeldiagrams.tracer.torch_facts.private_api import unseen_by_modes

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


def assign_data(tensor: Tensor, other: Tensor) -> None:
    """`torch.utils.swap_tensors`, as an assignment of the other tensor's content."""
    tensor.data = other


def format_as_number(tensor: Tensor, spec: str) -> str:
    """`Tensor.__format__`."""
    with unseen_by_modes():
        return format(tensor.item() if tensor.dim() == 0 else object.__repr__(tensor), spec)


def refuse_dlpack(_tensor: Tensor, *_: Any, **__: Any) -> Any:
    """`Tensor.__dlpack__`."""
    raise RuntimeError("a tensor without values has no memory that another library could use")


def overridable_tolist(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Tensor.tolist`, shown to function modes."""

    def tolist(*args: Any) -> Any:
        return original(*args)

    tolist.__module__ = "torch.Tensor"  # as which it is shown

    def shown_tolist(self: Tensor) -> Any:
        return handle_torch_function(tolist, (self,), self) if has_torch_function((self,)) else original(self)

    return shown_tolist
