"""Which bytes of its memory a tensor shows, and whether two tensors may share bytes.

If intervals can't decide it, tensors are assumed to overlap.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from modeldiagrams.tracer.values.pass_records import Spec

Geometry: TypeAlias = tuple[Any, tuple[Any, ...] | None, tuple[Any, ...], str]
"""Offset, sizes and strides in elements, and dtype."""


@dataclass(slots=True)
class _Region:
    """The bytes of its storage that a tensor shows."""

    first: int
    last: int
    dense: bool
    """Whether it covers every byte from the first to the last."""
    steps: tuple[tuple[int, int], ...]
    """Size and stride, in bytes, of every dimension."""
    width: int
    """Bytes per element."""
    exact: Geometry

    @property
    def is_empty(self) -> bool:
        """Whether it shows no byte."""
        return self.last < self.first

    def overlaps(self, other: _Region) -> bool:
        """Whether the regions may share a byte."""
        if self.first > other.last or other.first > self.last or self.is_empty or other.is_empty:
            return False
        return not any(self._is_apart(other, stride) for _, stride in (*self.steps, *other.steps))

    def covers(self, other: _Region) -> bool:
        """Whether every byte of the other region is certainly in this one."""
        if self.exact == other.exact:
            return True
        return self.dense and self.first <= other.first and other.last <= self.last and not other.is_empty

    def _is_apart(self, other: _Region, period: int) -> bool:
        """Whether the regions lie in different columns of a matrix whose rows have this many bytes."""
        if not period:
            return False
        (start, end), (other_start, other_end) = self._columns(period), other._columns(period)
        return max(end, other_end) <= period and (end <= other_start or other_end <= start)

    def _columns(self, period: int) -> tuple[int, int]:
        """First column and the column after the last, which exceeds the period if the region enters the next row."""
        start = self.first % period
        return start, start + self.width + sum((size - 1) * stride for size, stride in self.steps if stride % period)


def geometry_of(tensor: Tensor, spec: Spec) -> Geometry | None:
    """Which part of its memory a tensor shows; None if torch doesn't say."""
    try:
        return tensor.storage_offset(), spec.shape, tensor.stride(), spec.dtype
    except (RuntimeError, NotImplementedError):
        return None


def region_of(geometry: Geometry | None) -> _Region | None:
    """The bytes of a geometry; None for symbolic sizes."""
    if geometry is None:
        return None
    first, shape, strides, dtype = geometry
    if shape is None or type(first) is not int or any(type(n) is not int for n in (*shape, *strides)):
        return None
    return _region(first, shape, strides, dtype)


@functools.lru_cache(maxsize=4096)
def _region(first: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str) -> _Region:
    width = getattr(torch, dtype).itemsize
    reach = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) + 1 if math.prod(shape) else 0
    return _Region(
        first=first * width,
        last=(first + reach) * width - 1,
        dense=_is_dense(shape, strides),
        steps=tuple((size, stride * width) for size, stride in zip(shape, strides, strict=True)),
        width=width,
        exact=(first, shape, strides, dtype),
    )


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether elements leave no gaps: in order of stride, each dimension begins where the previous one ends."""
    reach = 1
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size != 1 and stride:
            if stride != reach:
                return False
            reach *= size
    return True
