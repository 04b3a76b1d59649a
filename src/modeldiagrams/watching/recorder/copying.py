"""Computes histograms on the device, then copies all measurements to the CPU at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from modeldiagrams.watching.file.histogram import FINEST as PER_OCTAVE
from modeldiagrams.watching.file.histogram import INFINITE, LOWEST_EXPONENT, NAN, OCTAVES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modeldiagrams.watching.recorder.measurement import Measurement

__all__ = ["HostCopy", "copy_to_host"]

_DROPPED = 21
"""The low bits of a float32 to ignore; its sign, exponent and two more bits are its bin."""
_RAW = 1 << (32 - _DROPPED)
_HALF = _RAW // 2
_FIRST = (127 + LOWEST_EXPONENT) * PER_OCTAVE
_WIDTH = NAN + INFINITE + 1


class HostCopy(NamedTuple):
    """The measurement of one tensor on the CPU."""

    floats: list[float]
    ints: list[int]
    weight_norm: float | None
    bins: dict[int, int]
    """The number of values in each bin that isn't empty."""


def copy_to_host(rows: Sequence[Measurement], extra: Sequence[Tensor] = ()) -> tuple[list[HostCopy], list[float]]:
    """Copy all measurements to the CPU, with one copy for each device.

    Args:
        rows: The measurements.
        extra: More numbers to copy: losses, the scale of gradients.
    """
    devices = dict.fromkeys([*(row.sample.device for row in rows), *(value.device for value in extra)])
    found: dict[int, HostCopy] = {}
    values: dict[int, float] = {}
    for device in devices:
        own = [row for row in rows if row.sample.device == device]
        brought = [value for value in extra if value.device == device]
        done, numbers = _copy_from_device(own, brought, device)
        found.update(zip(map(id, own), done, strict=True))
        values.update(zip(map(id, brought), numbers, strict=True))
    return [found[id(row)] for row in rows], [values[id(value)] for value in extra]


def _copy_from_device(
    rows: Sequence[Measurement], extra: Sequence[Tensor], device: torch.device
) -> tuple[list[HostCopy], list[float]]:
    packed, size = pack_on_device(rows, extra, device)
    host = packed.cpu()  # the one copy
    at = len(rows) * _RAW
    counted = iter(host[at : at + size].view(torch.int64).tolist())
    brought = iter(host[at + size :].view(torch.float32).tolist())
    bins = _find_bins(host[:at].reshape(len(rows), _RAW))
    found = [_unpack(row, brought, counted, own) for row, own in zip(rows, bins, strict=True)]
    return found, list(brought)


def pack_on_device(rows: Sequence[Measurement], extra: Sequence[Tensor], device: torch.device) -> tuple[Tensor, int]:
    """Pack histograms, counts and floats into one tensor without synchronizing; also return the counts' length."""
    numbers = [number for row in rows for number in (*row.floats, row.weight_norm)]
    floats = [value.reshape(()).to(torch.float32) for value in (*numbers, *extra) if isinstance(value, Tensor)]
    counts = [value.to(torch.int64) for row in rows for value in row.ints if isinstance(value, Tensor)]
    parts = [_count_bins(rows, device)]
    parts += [torch.stack(counts).view(torch.int32)] if counts else []  # first, because they need an even offset
    parts += [torch.stack(floats).view(torch.int32)] if floats else []
    return torch.cat(parts), 2 * len(counts)


def _unpack(row: Measurement, brought: Iterator[float], counted: Iterator[int], bins: dict[int, int]) -> HostCopy:
    floats = [next(brought) if isinstance(value, Tensor) else value for value in row.floats]
    weight_norm = next(brought) if isinstance(row.weight_norm, Tensor) else row.weight_norm
    ints = [next(counted) if isinstance(value, Tensor) else value for value in row.ints]
    return HostCopy(floats, ints, weight_norm, bins)


def _count_bins(rows: Sequence[Measurement], device: torch.device) -> Tensor:
    """Count the leading bits of samples, a line for each row: exact integers on any device, without synchronizing."""
    found = torch.zeros(len(rows) * _RAW, dtype=torch.int32, device=device)
    if not rows:
        return found
    samples = torch.cat([row.sample for row in rows])
    sizes = torch.tensor([row.sample.numel() for row in rows], device=device)
    starts = torch.arange(0, len(rows) * _RAW, _RAW, device=device)
    lines = torch.repeat_interleave(starts, sizes, output_size=samples.numel())
    bins = (samples.view(torch.int32) >> _DROPPED).bitwise_and_(_RAW - 1).add_(lines)
    if device.type == "cpu":
        return torch.bincount(bins, minlength=found.numel()).to(torch.int32)
    return found.scatter_add_(0, bins, torch.ones((), dtype=torch.int32, device=device).expand(bins.shape))


def _find_bin(raw: int) -> int:
    """Return the bin of some leading bits; 0 is that of minus infinity."""
    size = raw % _HALF
    if size > _HALF - PER_OCTAVE:
        return NAN + INFINITE
    magnitude = INFINITE if size == _HALF - PER_OCTAVE else min(max(size - _FIRST + 1, 1), OCTAVES * PER_OCTAVE)
    signed = (magnitude if raw < _HALF else -magnitude) if size else 0
    return signed + INFINITE


_BINS = torch.tensor([_find_bin(raw) for raw in range(_RAW)])


def _find_bins(histograms: Tensor) -> list[dict[int, int]]:
    merged = torch.zeros(len(histograms), _WIDTH, dtype=torch.int32).index_add_(1, _BINS, histograms)
    places = merged.nonzero()
    counts = merged[places[:, 0], places[:, 1]].tolist()
    bins = (places[:, 1] - INFINITE).tolist()
    ends = torch.bincount(places[:, 0], minlength=len(histograms)).cumsum(0).tolist()
    return [dict(zip(bins[at:end], counts[at:end], strict=True)) for at, end in zip([0, *ends], ends, strict=False)]
