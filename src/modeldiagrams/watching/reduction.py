"""Merges many moments into few, exactly: bins are added up, minima and maxima kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from modeldiagrams.watching.file.histogram import merge_histograms
from modeldiagrams.watching.file.records import KINDS, Moment, Row

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from modeldiagrams.watching.file.records import Key

__all__ = ["MomentMerger", "merge_rows", "reduce_moments"]


def reduce_moments(moments: Sequence[Moment], most: int, per_octave: int) -> list[Moment]:
    """Merge consecutive moments of each phase, equally many at a time, so that at most `most` are left."""
    found = []
    for phase in dict.fromkeys(moment.phase for moment in moments):
        own = [moment for moment in moments if moment.phase == phase]
        size = -(-len(own) // most)
        found += [_merge_moments(own[at : at + size], per_octave) for at in range(0, len(own), size)]
    return sorted(found, key=lambda moment: moment.step)


class MomentMerger:
    """Keeps at most `most` moments of a growing series, each merged from equally many; the last may have fewer."""

    def __init__(self, most: int, per_octave: int, kinds: Collection[str] = KINDS) -> None:
        """Start empty; `most` is even, and only tensors of `kinds` keep their histograms."""
        self._most, self._per_octave, self._kinds = most, per_octave, kinds
        self._size = 1
        self._whole: list[Moment] = []
        self._last: list[Moment] = []

    def add(self, moment: Moment) -> None:
        """Add the next moment."""
        self._last.append(moment)
        if len(self._last) == self._size:
            self._whole.append(_merge_moments(self._last, self._per_octave, self._kinds))
            self._last = []
        if len(self._whole) == self._most:
            self._size *= 2
            pairs = zip(self._whole[::2], self._whole[1::2], strict=True)
            self._whole = [_merge_moments(pair, self._per_octave, self._kinds) for pair in pairs]

    def moments(self) -> list[Moment]:
        """Return the moments so far."""
        return [*self._whole, *([_merge_moments(self._last, self._per_octave, self._kinds)] if self._last else [])]


def _merge_moments(moments: Sequence[Moment], per_octave: int, kinds: Collection[str] = KINDS) -> Moment:
    first = moments[0]
    if len(moments) == 1 and first.last is not None and _is_coarse(first, per_octave):
        return first
    keys: dict[Key, None] = {key: None for moment in moments for key in moment.rows}
    made: dict[tuple[int, ...], Row] = {}  # tensors with several keys keep sharing one row
    rows = {}
    for key in keys:
        own = [moment.rows[key] for moment in moments if key in moment.rows]
        same = tuple(map(id, own))
        if same not in made:
            made[same] = merge_rows(own, per_octave, with_histogram=key.kind in kinds)
        rows[key] = made[same]
    return Moment(
        step=first.step,
        phase=first.phase,
        skipped=all(moment.skipped for moment in moments),
        scale=moments[-1].scale,
        last=moments[-1].step if moments[-1].last is None else moments[-1].last,
        unseen=tuple(dict.fromkeys(path for moment in moments for path in moment.unseen)),
        traced=any(moment.traced for moment in moments),
        edges=tuple(dict.fromkeys(edge for moment in moments for edge in moment.edges)),
        rows=rows,
    )


def _is_coarse(moment: Moment, per_octave: int) -> bool:
    return all(row.histogram.per_octave <= per_octave for row in moment.rows.values())


def merge_rows(rows: Sequence[Row], per_octave: int, *, with_histogram: bool = True) -> Row:
    """Merge the rows of one tensor at several moments."""
    moments = sum(row.moments for row in rows)
    count = sum(row.count for row in rows)
    return Row(
        count=count,
        fires=sum(row.fires for row in rows),
        zeros=sum(row.zeros for row in rows),
        bad=sum(row.bad for row in rows),
        min=min(_drop_nan(row.min for row in rows), default=math.nan),
        max=max(_drop_nan(row.max for row in rows), default=math.nan),
        mean=sum(row.mean * row.count for row in rows) / max(count, 1),
        norm=_root_mean_square((row.norm, row.moments) for row in rows),
        dead=sum(row.dead for row in rows),
        units=sum(row.units for row in rows),
        ratio=None
        if any(row.ratio is None for row in rows)
        else _root_mean_square((row.ratio or 0.0, row.moments) for row in rows),
        moments=moments,
        histogram=merge_histograms((row.histogram for row in rows if with_histogram), per_octave),
    )


def _drop_nan(values: Iterable[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _root_mean_square(weighted: Iterable[tuple[float, int]]) -> float:
    pairs = list(weighted)
    largest = max((abs(value) for value, _ in pairs), default=0.0)
    if not largest or not math.isfinite(largest):
        return largest
    squares = sum((value / largest) ** 2 * weight for value, weight in pairs)  # divided first, so that none overflows
    return largest * math.sqrt(squares / sum(weight for _, weight in pairs))
