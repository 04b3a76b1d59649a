"""Measures a tensor: a few numbers and a sample, without synchronizing an accelerator."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor

if TYPE_CHECKING:
    from modeldiagrams.watching.file.records import Key

__all__ = ["Measurement", "Scope", "as_float32", "get_values", "measure", "take_sample"]

Scope: TypeAlias = str
"""``data``: each rank has its own values. ``copy``: all ranks have the same. ``shard``: each has a part."""
Number: TypeAlias = "float | Tensor"
"""A number if the tensor is on the CPU, or else a tensor on its device."""
_HALF = (torch.float16, torch.bfloat16)
_CHUNK = 1 << 16
_GOLDEN = 0x9E3779B1
_IMAGES = 4
_LARGEST = 3.4028234e38


class Measurement:
    """The measurement of one tensor.

    Attributes:
        keys: The tensor's keys; several if several modules return it.
        floats: Minimum, maximum, sum and norm.
        ints: The numbers of non-zero values, of infinite and NaN values, and of dead units.
    """

    __slots__ = ("count", "floats", "ints", "keys", "sample", "scaled", "scope", "units", "weight_norm")

    def __init__(self, key: Key, sample: Tensor, count: int, scope: Scope = "data") -> None:
        self.keys, self.sample, self.count, self.scope = [key], sample, count, scope
        self.floats: list[Number] = []
        self.ints: list[int | Tensor] = []
        self.units = 0
        self.scaled = False
        self.weight_norm: Number | None = None


def get_values(tensor: Tensor) -> Tensor | None:
    """Return the values of a tensor to measure: its local part, detached; None if it can't be measured."""
    if not tensor.is_floating_point() or tensor.is_nested or tensor.is_quantized or tensor.device.type == "meta":
        return None
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):  # noqa: SLF001
        return None  # tensors inside vmap have no values of their own
    tensor = tensor.detach()
    if tensor.is_sparse:
        tensor = tensor.coalesce().values()
    elif tensor.layout is not torch.strided:
        return None
    if type(tensor) is not Tensor:
        tensor = _to_plain(tensor)
    return tensor if tensor.numel() else None


def _to_plain(tensor: Any) -> Tensor:
    local = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    found: Tensor = local if type(local) is Tensor else local.as_subclass(Tensor)
    return found


def measure(key: Key, tensor: Tensor, sample: Tensor, scope: Scope, unit_dim: int | None) -> Measurement:
    """Measure the values that `get_values` returned."""
    row = Measurement(key, sample, tensor.numel(), scope)
    values = _flatten(tensor)
    work = torch.float32 if tensor.dtype in _HALF else None
    low, high = torch.aminmax(values)
    floats = [low, high, values.sum(dtype=work), torch.linalg.vector_norm(values, dtype=work)]
    if tensor.device.type == "cpu":  # no need to synchronize
        row.floats = [value.item() for value in floats]
        row.ints = [_count_nonzero(values, sample, row.floats), _count_bad(values, row.floats)]
    else:
        row.floats = [value.to(torch.float32) for value in floats]
        row.ints = [torch.count_nonzero(values), values.numel() - torch.isfinite(values).sum()]
    row.ints.append(_count_dead(row, tensor, unit_dim))
    return row


def _flatten(tensor: Tensor) -> Tensor:
    """Flatten a tensor, in memory order if that saves a copy."""
    if tensor.dim() == _IMAGES and tensor.is_contiguous(memory_format=torch.channels_last):
        return tensor.permute(0, 2, 3, 1).view(-1)
    return tensor.reshape(-1)


def _count_nonzero(values: Tensor, sample: Tensor, floats: list[Any]) -> int:
    """Count non-zero values; all count as such if the sample has no zero, as is usual for weights."""
    low, high = floats[:2]
    if low > 0 or high < 0 or (low < 0 and int(torch.count_nonzero(sample)) == sample.numel()):
        return values.numel()
    if not math.isfinite(floats[3]):
        return int(torch.count_nonzero(values))
    total = 0
    for part in torch.split(values, _CHUNK):  # ten times as fast as `count_nonzero` on many zeros
        signs = part.to(torch.float32).sign()
        total += int(torch.dot(signs, signs))
    return total


def _count_bad(values: Tensor, floats: list[Any]) -> int:
    return 0 if math.isfinite(floats[3]) else values.numel() - int(torch.isfinite(values).sum())


def _count_dead(row: Measurement, tensor: Tensor, unit_dim: int | None) -> int | Tensor:
    """Count units that are zero everywhere, if no value is negative; sets `units` to the number of all units."""
    if unit_dim is None or tensor.dim() < 2 or (isinstance(row.floats[0], float) and row.floats[0] < 0):  # noqa: PLR2004
        return 0
    unit_dim %= tensor.dim()
    row.units = tensor.shape[unit_dim]
    if isinstance(row.floats[0], float) and row.floats[0] > 0:
        return 0
    largest = tensor.amax([dim for dim in range(tensor.dim()) if dim != unit_dim])
    dead = (largest == 0).sum()
    return int(dead) if tensor.device.type == "cpu" else dead


def as_float32(value: float) -> float:
    """Replace a number that is too large for the 32 bits it has in a file by infinity."""
    return math.copysign(math.inf, value) if abs(value) > _LARGEST else value


def take_sample(tensor: Tensor, most: int, turn: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Copy at most `most` evenly spaced values; the stride has no common factor with the size.

    This draws no random numbers. A view would keep the tensor alive and change with it.
    """
    size = tensor.numel()
    if size <= most:
        return tensor.reshape(-1).to(dtype, copy=True)
    stride = size // most
    while math.gcd(stride, size) != 1:
        stride -= 1
    last = stride * (most - 1) + 1
    first = (turn * _GOLDEN) % (size - last + 1)
    values = _flatten(tensor)  # a slice of a tensor has a stride above 1, an expanded tensor a stride of 0
    step = values.stride(0)
    return values.as_strided((most,), (stride * step,), values.storage_offset() + first * step).to(dtype, copy=True)
