"""Which part of its memory a tensor shows, and whether two of them show the same."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from modeldiagrams.tracer.recording import Spec

__all__ = ["Geometry", "geometry_of", "region"]

Geometry: TypeAlias = tuple[Any, tuple[Any, ...] | None, tuple[Any, ...], str]
"""Offset, sizes and strides in elements, and dtype."""

_MAX_UNITS = 1 << 22
"""How far a region may reach to be compared element by element."""


@dataclass(slots=True)
class _Region:
    """Which bytes of its storage a tensor shows."""

    first: int
    last: int
    dense: bool
    exact: Geometry

    @property
    def is_empty(self) -> bool:
        """Whether it shows no byte."""
        return self.last < self.first

    def overlaps(self, other: _Region) -> bool:
        """Whether a byte is in both; taken for granted where that is too much to compare."""
        if self.first > other.last or other.first > self.last or self.is_empty or other.is_empty:
            return False
        if self.dense and other.dense:
            return True
        mine, others = _bits_of_both(self, other)
        return mine is None or others is None or bool(mine & others)

    def covers(self, other: _Region) -> bool:
        """Whether every byte of the other is in this one; not where that is too much to compare."""
        if self.exact == other.exact:
            return True
        if self.first > other.first or self.last < other.last or other.is_empty:
            return False
        if self.dense:
            return True
        mine, others = _bits_of_both(self, other)
        return mine is not None and others is not None and not others & ~mine


def geometry_of(tensor: Tensor, spec: Spec) -> Geometry | None:
    """Which part of its memory a tensor shows, as torch says it."""
    try:
        return tensor.storage_offset(), spec.shape, tensor.stride(), spec.dtype
    except (RuntimeError, NotImplementedError):
        return None


def region(geometry: Geometry | None) -> _Region | None:
    """The same, fit for comparing; None where that can't be said (symbolic sizes)."""
    if geometry is None:
        return None
    first, shape, strides, dtype = geometry
    if shape is None or type(first) is not int or any(type(n) is not int for n in (*shape, *strides)):
        return None
    return _region(first, shape, strides, dtype)


@functools.lru_cache(maxsize=4096)
def _region(first: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str) -> _Region:
    width = _width(dtype)
    count = math.prod(shape)
    reach = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) + 1 if count else 0
    exact = (first, shape, strides, dtype)
    return _Region(first * width, (first + reach) * width - 1, _is_dense(shape, strides), exact)


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether elements leave no gaps, as can be seen at once: each dimension, by its stride, begins where one ends."""
    reach = 1
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size != 1 and stride:
            if stride != reach:
                return False
            reach *= size
    return True


@functools.cache
def _width(dtype: str) -> int:
    """Bytes of an element."""
    found: torch.dtype = getattr(torch, dtype)
    return found.itemsize


def _bits_of_both(one: _Region, other: _Region) -> tuple[int | None, int | None]:
    """The elements that two regions show, as bits of equal meaning, counted from the first of both."""
    unit = min(_width(one.exact[3]), _width(other.exact[3]))
    start = min(one.first, other.first)
    return _bits(one, unit, start), _bits(other, unit, start)


def _bits(shown: _Region, unit: int, start: int) -> int | None:
    if shown.last - start > _MAX_UNITS * unit:
        return None
    _, shape, strides, dtype = shown.exact
    return _pattern(shape or (), strides, _width(dtype) // unit) << (shown.first - start) // unit


@functools.lru_cache(maxsize=256)
def _pattern(shape: tuple[int, ...], strides: tuple[int, ...], width: int) -> int:
    """A bit for every unit that elements cover, of which each takes several."""
    bits = (1 << width) - 1
    for size, stride in zip(shape, strides, strict=True):
        bits = _repeated(bits, size, stride * width)
    return bits


def _repeated(bits: int, count: int, step: int) -> int:
    """The same bits so many times, one step apart, in as many additions as the count has digits."""
    found = shift = 0
    while count:
        if count & 1:
            found |= bits << shift
            shift += step
        bits |= bits << step
        step *= 2
        count >>= 1
    return found
