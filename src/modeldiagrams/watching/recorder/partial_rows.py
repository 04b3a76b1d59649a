"""Turns measurements into rows, merging those of micro-batches and of several processes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.watching.file.histogram import FINEST, Histogram
from modeldiagrams.watching.file.records import Key, Row
from modeldiagrams.watching.recorder.measurement import as_float32
from modeldiagrams.watching.reduction import merge_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modeldiagrams.watching.recorder.copying import HostCopy
    from modeldiagrams.watching.recorder.measurement import Measurement, Scope

__all__ = ["PartialRow", "build_partial_rows", "merge_partial_rows"]


class PartialRow(NamedTuple):
    """A row, or the contribution of one micro-batch or process to a row."""

    keys: tuple[Key, ...]
    row: Row
    scope: Scope
    weight_norm: float | None


def build_partial_rows(measured: Sequence[Measurement], copies: Sequence[HostCopy], scale: float) -> list[PartialRow]:
    """Turn measurements into partial rows, undoing the scale of gradients."""
    return [
        PartialRow((*row.keys,), _build_row(row, found, 1 / scale if row.scaled else 1.0), row.scope, found.weight_norm)
        for row, found in zip(measured, copies, strict=True)
    ]


def _build_row(row: Measurement, found: HostCopy, factor: float) -> Row:
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
        histogram=Histogram(found.bins),
    )


def merge_partial_rows(parts: Iterable[PartialRow]) -> dict[Key, Row]:
    """Merge partial rows into one row for each key; keys of the same tensor share it."""
    by_key: dict[Key, list[PartialRow]] = {}
    for part in parts:
        for key in part.keys:
            by_key.setdefault(key, []).append(part)
    made: dict[tuple[int, ...], Row] = {}
    rows: dict[Key, Row] = {}
    for key, own in by_key.items():
        same = tuple(map(id, own))
        if same not in made:
            made[same] = _merge(own)
        rows[key] = made[same]
    return rows


def _merge(parts: list[PartialRow]) -> Row:
    if len(parts) == 1 and parts[0].weight_norm is None:
        return parts[0].row
    row = merge_rows([part.row for part in parts], FINEST)
    row.norm = as_float32(row.norm * math.sqrt(row.moments))
    row.moments = 1
    weights = [part.weight_norm for part in parts if part.weight_norm is not None]
    if weights:
        norm = math.hypot(*weights)
        row.ratio = as_float32(row.norm / norm) if norm else math.inf if row.norm else 0.0
    return row
