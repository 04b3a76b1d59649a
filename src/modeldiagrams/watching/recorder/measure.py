"""One tensor → a few numbers and a sample, without asking an accelerator for a value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor

if TYPE_CHECKING:
    from modeldiagrams.watching.file.records import Key

__all__ = ["Measured", "Scope", "as_float32", "measurable", "measured", "sample_of"]

Scope: TypeAlias = str
"""``data``: ranks have different values. ``copy``: all have the same. ``shard``: each has a part."""
Number: TypeAlias = "float | Tensor"
"""Of a tensor in main memory a number, of others a tensor on their device."""
_HALF = (torch.float16, torch.bfloat16)
_CHUNK = 1 << 16
_GOLDEN = 0x9E3779B1
_IMAGES = 4
_LARGEST = 3.4028234e38


class Measured:
    """What was measured of one tensor.

    Attributes:
        keys: The tensor's; several, where it is in several places.
        floats: Smallest, largest, sum and norm.
        ints: How many values aren't zero, how many are infinite or NaN; how many units are dead.
    """

    __slots__ = ("count", "floats", "ints", "keys", "sample", "scaled", "scope", "units", "weight_norm")

    def __init__(self, key: Key, sample: Tensor, count: int, scope: Scope = "data") -> None:
        self.keys, self.sample, self.count, self.scope = [key], sample, count, scope
        self.floats: list[Number] = []
        self.ints: list[int | Tensor] = []
        self.units = 0
        self.scaled = False
        self.weight_norm: Number | None = None


def measurable(tensor: Tensor) -> Tensor | None:
    """The values of a tensor that can be measured: its local part, without history; None for those that can't."""
    if not tensor.is_floating_point() or tensor.is_nested or tensor.is_quantized or tensor.device.type == "meta":
        return None
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):  # noqa: SLF001
        return None  # inside vmap, whose tensors have no values of their own
    tensor = tensor.detach()
    if tensor.is_sparse:
        tensor = tensor.coalesce().values()
    elif tensor.layout is not torch.strided:
        return None
    if type(tensor) is not Tensor:
        tensor = _plain(tensor)
    return tensor if tensor.numel() else None


def _plain(tensor: Any) -> Tensor:
    local = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    found: Tensor = local if type(local) is Tensor else local.as_subclass(Tensor)
    return found


def measured(key: Key, tensor: Tensor, sample: Tensor, scope: Scope, unit_dim: int | None) -> Measured:
    """Measure a tensor that is `measurable`."""
    row = Measured(key, sample, tensor.numel(), scope)
    values = _flat(tensor)
    work = torch.float32 if tensor.dtype in _HALF else None
    low, high = torch.aminmax(values)
    floats = [low, high, values.sum(dtype=work), torch.linalg.vector_norm(values, dtype=work)]
    if tensor.device.type == "cpu":  # nothing runs there that a question would have to wait for
        row.floats = [value.item() for value in floats]
        row.ints = [_nonzeros(values, sample, row.floats), _bad(values, row.floats)]
    else:
        row.floats = [value.to(torch.float32) for value in floats]
        row.ints = [torch.count_nonzero(values), values.numel() - torch.isfinite(values).sum()]
    row.ints.append(_dead(row, tensor, unit_dim))
    return row


def _flat(tensor: Tensor) -> Tensor:
    """All values in one dimension, in the order of memory where that saves a copy."""
    if tensor.dim() == _IMAGES and tensor.is_contiguous(memory_format=torch.channels_last):
        return tensor.permute(0, 2, 3, 1).view(-1)
    return tensor.reshape(-1)


def _nonzeros(values: Tensor, sample: Tensor, floats: list[Any]) -> int:
    """How many values aren't zero; all are taken for such if the sample has no zero, as nearly always with weights."""
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


def _bad(values: Tensor, floats: list[Any]) -> int:
    return 0 if math.isfinite(floats[3]) else values.numel() - int(torch.isfinite(values).sum())


def _dead(row: Measured, tensor: Tensor, unit_dim: int | None) -> int | Tensor:
    """Units that are zero everywhere, where no value is negative; `units` is how many there are."""
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
    """What a file can hold, whose numbers are of 32 bits: infinity for what is too large."""
    return math.copysign(math.inf, value) if abs(value) > _LARGEST else value


def sample_of(tensor: Tensor, most: int, turn: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """A copy of at most so many values, spread evenly: by a stride without a common factor with the size.

    No random numbers are drawn. A view would keep the tensor alive and change with it.
    """
    size = tensor.numel()
    if size <= most:
        return tensor.reshape(-1).to(dtype, copy=True)
    stride = size // most
    while math.gcd(stride, size) != 1:
        stride -= 1
    last = stride * (most - 1) + 1
    first = (turn * _GOLDEN) % (size - last + 1)
    values = _flat(tensor)  # of a part of a tensor its values lie apart; of an expanded one, all in one place
    apart = values.stride(0)
    return values.as_strided((most,), (stride * apart,), values.storage_offset() + first * apart).to(dtype, copy=True)
