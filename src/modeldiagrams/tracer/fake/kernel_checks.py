"""Refuses dtypes and positions that real kernels refuse and fake tensors accept: no graph of a pass that can't run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes

from modeldiagrams.tracer.torch_facts.functions import to_plain_data
from modeldiagrams.tracer.torch_facts.private_api import Operator, schema_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_FACTORS = {
    "addmm": (1, 2),
    "addmv": (1, 2),
    "convolution": (0, 1),
    "convolution_overrideable": (0, 1),
    "linear": (0, 1),
    "mm": (0, 1),
    "mv": (0, 1),
}
"""Positions of the operands that must have the same dtype."""
_FLOATING = frozenset(
    {"_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "_log_softmax", "_softmax", "gelu", "hardswish", "im2col", "mish"}
    | {"native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training", "silu", "softplus"}
    | {"grid_sampler_2d", "grid_sampler_3d", "std", "std_mean", "upsample_bicubic2d", "upsample_bilinear2d", "var"}
    | {"upsample_linear1d", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_trilinear3d"}
    | {"var_mean"}
)
"""Operators that reject whole numbers."""
_BITWISE = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor"})
"""Operators that accept only whole numbers and booleans."""
_ALONG_A_DIMENSION = frozenset(
    {"gather", "index_add", "index_copy", "index_fill", "index_select", "scatter", "scatter_add", "scatter_reduce"}
)
"""Operators of a tensor, a dimension and positions in it."""
_FROM_THE_END = frozenset({"index", "index_fill", "index_put"})
"""Operators that count negative positions from the end."""
_LOOKS_NO_FURTHER = frozenset({"index_add", "index_copy", "index_fill", "index_put"})
"""Operators that don't check positions in a tensor without elements."""
_WHOLE = {torch.int16: "Short", torch.int32: "Int", torch.int64: "Long", torch.bool: "Bool"}
_PLAIN = (FakeTensor, Tensor, nn.Parameter)
"""Other subclasses may have kernels of their own."""


def check_dtypes(operator: Any, args: Sequence[Any]) -> None:
    """Refuse dtypes that an operator's kernel would refuse.

    Raises:
        RuntimeError: if two factors differ in dtype, or a kernel doesn't accept whole or floating point numbers.
    """
    if not isinstance(operator, Operator):
        return
    name = schema_of(operator).name.removeprefix("aten::").removesuffix("_")
    if name in _FACTORS:
        first, second = (args[position] for position in _FACTORS[name])
        if first.dtype is not second.dtype and type(first) in _PLAIN and type(second) in _PLAIN:
            raise RuntimeError(
                f"{name}: both operands must have the same dtype,"
                f" but got {to_plain_data(first.dtype)} and {to_plain_data(second.dtype)}"
            )
    elif name in _FLOATING and args[0].dtype in _WHOLE and type(args[0]) in _PLAIN:
        if not args[0].numel() or (name == "im2col" and args[0].dtype is torch.bool):
            return  # some kernels return at once, and this one only copies
        raise RuntimeError(f"\"{name}\" not implemented for '{_WHOLE[args[0].dtype]}'")
    elif name in _BITWISE and any(type(arg) in _PLAIN and arg.is_floating_point() for arg in args):
        raise RuntimeError(f"\"{name}\" not implemented for 'Float'")


def check_positions(operator: Any, args: Sequence[Any], value_of: Callable[[Tensor], Tensor | None]) -> None:
    """Refuse positions outside a tensor.

    Args:
        operator: The operator that is about to run on fake tensors.
        args: Its arguments.
        value_of: Returns the content of a fake tensor, or None if unknown.

    Raises:
        IndexError: if a known position is out of bounds.
    """
    name = schema_of(operator).name.removeprefix("aten::").removesuffix("_")
    if name in _LOOKS_NO_FURTHER and not args[0].numel():
        return
    for dimension, size, positions in _find_positions(name, args):
        known = value_of(positions)
        if known is None or known.numel() == 0:
            continue
        with _disable_current_modes():
            low, high = (int(bound) for bound in known.aminmax())
        lowest = -size if name in _FROM_THE_END or args[0].layout is not torch.strided else 0
        if low < lowest or high >= size:
            wrong = high if high >= size else low
            raise IndexError(f"index {wrong} is out of bounds for dimension {dimension} with size {size}")


def _find_positions(name: str, args: Sequence[Any]) -> Iterator[tuple[int, int, Tensor]]:
    """Yield dimension, size, and the positions that an operator reads or writes there."""
    if name == "embedding":
        yield 0, args[0].shape[0], args[1]
    elif name in _ALONG_A_DIMENSION:
        yield args[1], args[0].shape[args[1]] if args[0].dim() else 1, args[2]
    elif name in _FROM_THE_END:
        for dimension, index in enumerate(args[1]):
            if index is None:
                continue
            if index.dtype in (torch.bool, torch.uint8):  # a mask takes as many dimensions as it has
                return
            yield dimension, args[0].shape[dimension], index
