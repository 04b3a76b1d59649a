"""A recording as pages carry it: few moments, rounded values. `viewer/src/widget/watching/data.ts` reads it."""

from __future__ import annotations

import math
import zlib
from bisect import bisect_right
from collections import Counter
from itertools import pairwise
from operator import itemgetter
from statistics import fmean
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

import msgspec

from modeldiagrams.watching.file.histogram import INFINITE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modeldiagrams.watching.file.histogram import Histogram
    from modeldiagrams.watching.file.records import Key, Moment, Row
    from modeldiagrams.watching.recording import Recording

__all__ = [
    "MOST_MOMENTS",
    "PER_OCTAVE",
    "WITH_HEAT",
    "Finding",
    "Heat",
    "PageRecording",
    "Series",
    "TensorSeries",
    "page_recording",
]

VERSION = "1.0"
MOST_MOMENTS = 200
MOST_BYTES = 300_000
"""Of a recording in a page, as it is written there."""
_LEAST_MOMENTS = 12
"""With fewer, maps of values over time say little: models with very many tensors rather go without."""
_NO_MAPS = "This model has too many tensors for maps of their values on a page."
Shown: TypeAlias = Literal["activation", "gradient", "parameter", "parameter_gradient", "update"]
_SHOWN: tuple[str, ...] = get_args(Shown)
WITH_HEAT = frozenset[str]({"activation", "gradient", "parameter"})
_STATISTICS = {
    **{name: name for name in ("min", "max", "mean", "rms", "ratio")},
    "zeros": "zero_share",
    "bad": "bad_share",
    "dead": "dead_share",
}
"""Name in a page → attribute of a row."""
PER_OCTAVE = 2
_MOST_BINS = 48
"""On one side of zero: 24 octaves, seven powers of ten."""
_NEAR_ZERO = 0.01
"""Share of the values whose magnitudes count as zero in a picture."""
_DARKEST = 7
_WRITTEN = 1.25
"""Characters for a byte in a page."""

Series: TypeAlias = tuple[int | None, ...]
"""A value at each moment, each as its difference to the one before; None where there is none. See `_code`."""


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A part of a recording."""


class Heat(_Part, frozen=True, kw_only=True):
    """How a tensor's values are distributed at each moment; bins as in recordings, two an octave."""

    lowest: int
    """The least bin that is shown; smaller magnitudes count as zero."""
    highest: int
    rows: tuple[str, ...]
    """A row of the picture each: positive values, the largest first, then zero, then negative ones, the smallest first.
    One digit for each moment, the logarithm of the share of values: 0 for none, 1 below 1/128, 7 from 1/4 on."""


class TensorSeries(_Part, frozen=True, kw_only=True):
    """One tensor of one node over time."""

    node: str
    kind: Shown
    name: str
    seen: str
    """``1`` or ``0`` for each moment: whether the tensor was seen."""
    values: dict[str, Series]
    """By statistic: min, max, mean, rms (root mean square) and ratio (norm of an update by that of the weight); as
    shares zeros, bad (not finite) and dead (units)."""
    heat: Heat | None = None


class Finding(_Part, frozen=True, kw_only=True):
    """Something unusual."""

    step: int
    node: str
    """Empty for the model as a whole."""
    kind: str
    """``nonfinite``, ``dead``, …"""
    what: str
    """Kind of the tensor, or ``loss``."""
    text: str


class PageRecording(_Part, frozen=True, kw_only=True, omit_defaults=False):
    """A recording for a page.

    Attributes:
        name: Of its file.
        steps: The last step of each moment, in ascending order.
        loss: The mean over each moment; None where there is none that is finite.
        tensors: In the order of the graph.
        findings: The most telling first.
        strangers: Nodes that were recorded and are not in the graph.
        notes: Sentences for the reader.
    """

    format: Literal["modeldiagrams-recording-page"] = "modeldiagrams-recording-page"
    version: str = VERSION
    name: str
    steps: tuple[int, ...]
    loss: tuple[float | None, ...]
    tensors: tuple[TensorSeries, ...]
    findings: tuple[Finding, ...] = ()
    strangers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def page_recording(
    recording: Recording, name: str, nodes: Sequence[str], most_bytes: int = MOST_BYTES
) -> PageRecording:
    """Reduce a recording for a page: as many moments as have room, merged exactly, then rounded.

    Args:
        recording: The whole recording.
        name: What readers know it by.
        nodes: Ids of all nodes of the graph, in order.
        most_bytes: How long it may be in the page.
    """
    most, with_heat = MOST_MOMENTS, True
    while True:
        recording = recording.reduced(most, PER_OCTAVE)
        page = _page(recording, name, nodes, with_heat=with_heat)
        if most == 1 or _size(page) <= most_bytes:
            return page
        if with_heat and most <= _LEAST_MOMENTS:
            with_heat = False
        else:
            most //= 2


def _size(page: PageRecording) -> float:
    return len(zlib.compress(msgspec.json.encode(page), 9)) * _WRITTEN


def _page(recording: Recording, name: str, nodes: Sequence[str], *, with_heat: bool) -> PageRecording:
    moments = [moment for moment in recording.moments if moment.phase == "train"]
    steps = tuple(moment.step if moment.last is None else moment.last for moment in moments)
    places = {node: place for place, node in enumerate(("", *nodes))}
    keys = [key for key in dict.fromkeys(key for moment in moments for key in moment.rows) if key.kind in _SHOWN]
    known = sorted((key for key in keys if key.node in places), key=lambda key: places[key.node])
    return PageRecording(
        name=name,
        steps=steps,
        loss=_loss(recording.losses, steps),
        tensors=tuple(_tensor(key, moments, with_heat=with_heat) for key in known),
        findings=tuple(
            Finding(step=found.step, node=found.node, kind=found.kind, what=found.what, text=found.text)
            for found in recording.anomalies
        ),
        strangers=tuple(dict.fromkeys(key.node for key in keys if key.node not in places)),
        notes=recording.notes if with_heat else (*recording.notes, _NO_MAPS),
    )


def _loss(losses: Sequence[tuple[int, float]], steps: Sequence[int]) -> tuple[float | None, ...]:
    """The mean from after one moment to the end of the next."""
    ends = [bisect_right(losses, step, key=itemgetter(0)) for step in steps]
    found = []
    for start, end in pairwise((0, *ends)):
        mean = fmean(value for _, value in losses[start:end]) if end > start else math.nan
        found.append(float(f"{mean:.4g}") if math.isfinite(mean) else None)
    return tuple(found)


def _tensor(key: Key, moments: Sequence[Moment], *, with_heat: bool) -> TensorSeries:
    rows = [moment.rows.get(key) for moment in moments]
    histograms = [None if row is None else row.histogram for row in rows]
    return TensorSeries(
        node=key.node,
        kind=cast("Shown", key.kind),
        name=key.tensor,
        seen="".join("0" if row is None else "1" for row in rows),
        values=_values(rows),
        heat=_heat(histograms) if with_heat and key.kind in WITH_HEAT else None,
    )


def _values(rows: Sequence[Row | None]) -> dict[str, Series]:
    """By statistic; what no row has is left out."""
    found = {}
    for name, attribute in _STATISTICS.items():
        code = _share_code if attribute.endswith("_share") else _code
        codes = [None if row is None else code(getattr(row, attribute)) for row in rows]
        if any(one is not None for one in codes):
            found[name] = _differences(codes)
    return found


def _code(value: float | None) -> int | None:
    """A number as an integer: its logarithm in hundredths of a power of ten and 5000, with the number's sign."""
    if value is None or not math.isfinite(value):
        return None
    return int(math.copysign(max(1, round(100 * math.log10(abs(value))) + 5000), value)) if value else 0


def _share_code(share: float | None) -> int | None:
    """A share in thousandths; never zero for something."""
    if share is None:
        return None
    return max(1, round(1000 * share)) if share else 0


def _differences(series: Iterable[int | None]) -> Series:
    found: list[int | None] = []
    before = 0
    for code in series:
        found.append(None if code is None else code - before)
        before = before if code is None else code
    return tuple(found)


def _heat(histograms: Sequence[Histogram | None]) -> Heat | None:
    counts = [_finite(histogram) for histogram in histograms]
    sizes = Counter[int]()
    for column in counts:
        for bin_, n in column.items():
            sizes[abs(bin_)] += n
    is_coarse = any(histogram is not None and histogram.per_octave < PER_OCTAVE for histogram in histograms)
    if is_coarse or not (bounds := _bounds(sizes)):  # bins that are wider can't be split
        return None
    lowest, highest = bounds
    bins = [*range(highest, lowest - 1, -1), 0, *range(-lowest, -highest - 1, -1)]
    columns = [_shades(column, lowest) for column in counts]
    rows = tuple("".join(column.get(bin_, "0") for column in columns) for bin_ in bins)
    return Heat(lowest=lowest, highest=highest, rows=rows)


def _finite(histogram: Histogram | None) -> dict[int, int]:
    counts = histogram.counts if histogram else {}
    return {bin_: n for bin_, n in counts.items() if abs(bin_) < INFINITE}


def _bounds(sizes: Counter[int]) -> tuple[int, int] | None:
    """The least and the largest bin to show."""
    sizes = Counter({bin_: n for bin_, n in sizes.items() if bin_})
    if not sizes:
        return None
    highest, left = max(sizes), _NEAR_ZERO * sizes.total()
    for lowest in sorted(sizes):
        left -= sizes[lowest]
        if left < 0:
            break
    return max(lowest, highest - _MOST_BINS + 1), highest


def _shades(column: dict[int, int], lowest: int) -> dict[int, str]:
    """Bin → digit; small magnitudes are with zero."""
    counts = Counter[int]()
    for bin_, n in column.items():
        counts[bin_ if abs(bin_) >= lowest else 0] += n
    total = counts.total()
    return {bin_: str(_shade(n / total)) for bin_, n in counts.items()}


def _shade(share: float) -> int:
    return min(_DARKEST, max(1, _DARKEST + 2 + math.floor(math.log2(share))))
