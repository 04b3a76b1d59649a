"""Many moments → few, merged exactly: bins are added up, smallest and largest values kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from modeldiagrams.watching.file.histogram import merged
from modeldiagrams.watching.file.records import KINDS, Moment, Row

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from modeldiagrams.watching.file.records import Key

__all__ = ["Merging", "merged_rows", "reduced_moments"]


def reduced_moments(moments: Sequence[Moment], most: int, per_octave: int) -> list[Moment]:
    """At most so many moments of each phase, each merged from equally many that follow each other."""
    found = []
    for phase in dict.fromkeys(moment.phase for moment in moments):
        own = [moment for moment in moments if moment.phase == phase]
        size = -(-len(own) // most)
        found += [_merged_moment(own[at : at + size], per_octave) for at in range(0, len(own), size)]
    return sorted(found, key=lambda moment: moment.step)


class Merging:
    """Moments that come one after the other: at most so many, each merged from equally many; the last from fewer."""

    def __init__(self, most: int, per_octave: int, kinds: Collection[str] = KINDS) -> None:
        """Begin; `most` is even, and tensors of other kinds have no histograms."""
        self._most, self._per_octave, self._kinds = most, per_octave, kinds
        self._size = 1
        self._whole: list[Moment] = []
        self._last: list[Moment] = []

    def add(self, moment: Moment) -> None:
        """Add the next."""
        self._last.append(moment)
        if len(self._last) == self._size:
            self._whole.append(_merged_moment(self._last, self._per_octave, self._kinds))
            self._last = []
        if len(self._whole) == self._most:
            self._size *= 2
            pairs = zip(self._whole[::2], self._whole[1::2], strict=True)
            self._whole = [_merged_moment(pair, self._per_octave, self._kinds) for pair in pairs]

    def moments(self) -> list[Moment]:
        """What there is so far."""
        return [*self._whole, *([_merged_moment(self._last, self._per_octave, self._kinds)] if self._last else [])]


def _merged_moment(moments: Sequence[Moment], per_octave: int, kinds: Collection[str] = KINDS) -> Moment:
    first = moments[0]
    if len(moments) == 1 and first.last is not None and _has(first, per_octave):
        return first
    keys: dict[Key, None] = {key: None for moment in moments for key in moment.rows}
    made: dict[tuple[int, ...], Row] = {}  # tensors that are in several places stay one row
    rows = {}
    for key in keys:
        own = [moment.rows[key] for moment in moments if key in moment.rows]
        same = tuple(map(id, own))
        if same not in made:
            made[same] = merged_rows(own, per_octave, with_histogram=key.kind in kinds)
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


def _has(moment: Moment, per_octave: int) -> bool:
    return all(row.histogram.per_octave <= per_octave for row in moment.rows.values())


def merged_rows(rows: Sequence[Row], per_octave: int, *, with_histogram: bool = True) -> Row:
    """One row for the same tensor at several moments."""
    moments = sum(row.moments for row in rows)
    count = sum(row.count for row in rows)
    return Row(
        count=count,
        fires=sum(row.fires for row in rows),
        zeros=sum(row.zeros for row in rows),
        bad=sum(row.bad for row in rows),
        min=min(_numbers(row.min for row in rows), default=math.nan),
        max=max(_numbers(row.max for row in rows), default=math.nan),
        mean=sum(row.mean * row.count for row in rows) / max(count, 1),
        norm=_quadratic_mean((row.norm, row.moments) for row in rows),
        dead=sum(row.dead for row in rows),
        units=sum(row.units for row in rows),
        ratio=None
        if any(row.ratio is None for row in rows)
        else _quadratic_mean((row.ratio or 0.0, row.moments) for row in rows),
        moments=moments,
        histogram=merged((row.histogram for row in rows if with_histogram), per_octave),
    )


def _numbers(values: Iterable[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _quadratic_mean(weighted: Iterable[tuple[float, int]]) -> float:
    pairs = list(weighted)
    largest = max((abs(value) for value, _ in pairs), default=0.0)
    if not largest or not math.isfinite(largest):
        return largest
    squares = sum((value / largest) ** 2 * weight for value, weight in pairs)  # no overflow on the way
    return largest * math.sqrt(squares / sum(weight for _, weight in pairs))
