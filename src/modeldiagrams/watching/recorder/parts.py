"""Measured tensors → rows: those of micro-batches, and of several processes, fall together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.watching.file.histogram import FINEST, Histogram
from modeldiagrams.watching.file.records import Key, Row
from modeldiagrams.watching.recorder.measure import as_float32
from modeldiagrams.watching.reduction import merged_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modeldiagrams.watching.recorder.copying import Copied
    from modeldiagrams.watching.recorder.measure import Measured, Scope

__all__ = ["Part", "parts_of", "rows_of"]


class Part(NamedTuple):
    """A row, or what one micro-batch or process adds to it."""

    keys: tuple[Key, ...]
    row: Row
    scope: Scope
    weight_norm: float | None


def parts_of(measured: Sequence[Measured], copied: Sequence[Copied], scale: float) -> list[Part]:
    """What was measured, with gradients as they are without a gradient scaler."""
    return [
        Part((*row.keys,), _row(row, found, 1 / scale if row.scaled else 1.0), row.scope, found.weight_norm)
        for row, found in zip(measured, copied, strict=True)
    ]


def _row(row: Measured, found: Copied, factor: float) -> Row:
    low, high, total, norm = (as_float32(value * factor) for value in found.floats)
    nonzero, bad, dead = found.ints
    units = row.units if low >= 0 else 0
    return Row(
        count=row.count,
        zeros=row.count - nonzero,
        bad=bad,
        min=low,
        max=high,
        mean=total / row.count,
        norm=norm,
        dead=dead if units else 0,
        units=units,
        histogram=Histogram(dict(zip(found.bins, found.counts, strict=True))),
    )


def rows_of(parts: Iterable[Part]) -> dict[Key, Row]:
    """One row for each tensor; those that are in the same places share it."""
    by_key: dict[Key, list[Part]] = {}
    for part in parts:
        for key in part.keys:
            by_key.setdefault(key, []).append(part)
    made: dict[tuple[int, ...], Row] = {}
    rows: dict[Key, Row] = {}
    for key, own in by_key.items():
        same = tuple(map(id, own))
        if same not in made:
            made[same] = _together(own)
        rows[key] = made[same]
    return rows


def _together(parts: list[Part]) -> Row:
    if len(parts) == 1 and parts[0].weight_norm is None:
        return parts[0].row
    row = merged_rows([part.row for part in parts], FINEST)
    row.norm = as_float32(row.norm * math.sqrt(row.moments))
    row.moments = 1
    weights = [part.weight_norm for part in parts if part.weight_norm is not None]
    if weights:
        norm = math.hypot(*weights)
        row.ratio = as_float32(row.norm / norm) if norm else math.inf if row.norm else 0.0
    return row
