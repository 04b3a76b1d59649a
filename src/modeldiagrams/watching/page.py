"""A recording reduced for pages: few moments, rounded values. `viewer/src/widget/watching/data.ts` reads it."""

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
    "build_page_recording",
]

VERSION = "1.0"
MOST_MOMENTS = 200
MOST_BYTES = 300_000
"""The maximum size of a recording in a page, after encoding."""
_LEAST_MOMENTS = 12
"""With fewer moments, maps of values over time say little, so models with very many tensors get none."""
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
"""Name in a page → attribute of `Row`."""
PER_OCTAVE = 2
_MOST_BINS = 48
"""For each sign: 24 octaves, seven powers of ten."""
_NEAR_ZERO = 0.01
"""The share of values with the smallest magnitudes, which count as zero in a picture."""
_DARKEST = 7
_CHARACTERS_PER_BYTE = 1.25

Series: TypeAlias = tuple[int | None, ...]
"""A code for each moment as the difference from the previous code; None where there is no value. See `_encode`."""


class _PagePart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A part of a recording."""


class Heat(_PagePart, frozen=True, kw_only=True):
    """The distribution of a tensor's values at each moment; bins as in recordings, two per octave."""

    lowest: int
    """The lowest bin shown; smaller magnitudes count as zero."""
    highest: int
    rows: tuple[str, ...]
    """The picture from top to bottom: positive values, the largest first, then zero, then negative ones. A row has one
    digit per moment, the logarithm of the share of values: 0 for none, 1 below 1/128, 7 from 1/4 on."""


class TensorSeries(_PagePart, frozen=True, kw_only=True):
    """One tensor of one node over time."""

    node: str
    kind: Shown
    name: str
    seen: str
    """``1`` or ``0`` for each moment: whether the tensor was seen."""
    values: dict[str, Series]
    """By statistic: min, max, mean, rms (root mean square), ratio (norm of an update / norm of the weight), and the
    shares of zeros, of bad (not finite) values and of dead units."""
    heat: Heat | None = None


class Finding(_PagePart, frozen=True, kw_only=True):
    """An anomaly."""

    step: int
    node: str
    """Empty for the model as a whole."""
    kind: str
    """``nonfinite``, ``dead``, …"""
    what: str
    """The kind of tensor, or ``loss``."""
    text: str


class PageRecording(_PagePart, frozen=True, kw_only=True, omit_defaults=False):
    """A recording reduced for a page.

    Attributes:
        name: The name of its file.
        steps: The last step of each moment, in ascending order.
        loss: The mean of each moment; None if it isn't finite or there is none.
        tensors: In the order of the graph.
        findings: The most informative first.
        strangers: Recorded nodes that are not in the graph.
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


def build_page_recording(
    recording: Recording, name: str, nodes: Sequence[str], most_bytes: int = MOST_BYTES
) -> PageRecording:
    """Reduce a recording for a page: as many moments as fit, merged exactly, then rounded.

    Args:
        recording: The complete recording.
        name: The name shown to readers.
        nodes: The ids of all nodes of the graph, in order.
        most_bytes: The maximum size in the page.
    """
    most, with_heat = MOST_MOMENTS, True
    while True:
        recording = recording.reduced(most, PER_OCTAVE)
        page = _build_page(recording, name, nodes, with_heat=with_heat)
        if most == 1 or _estimate_size(page) <= most_bytes:
            return page
        if with_heat and most <= _LEAST_MOMENTS:
            with_heat = False
        else:
            most //= 2


def _estimate_size(page: PageRecording) -> float:
    return len(zlib.compress(msgspec.json.encode(page), 9)) * _CHARACTERS_PER_BYTE


def _build_page(recording: Recording, name: str, nodes: Sequence[str], *, with_heat: bool) -> PageRecording:
    moments = [moment for moment in recording.moments if moment.phase == "train"]
    steps = tuple(moment.step if moment.last is None else moment.last for moment in moments)
    places = {node: place for place, node in enumerate(("", *nodes))}
    keys = [key for key in dict.fromkeys(key for moment in moments for key in moment.rows) if key.kind in _SHOWN]
    known = sorted((key for key in keys if key.node in places), key=lambda key: places[key.node])
    return PageRecording(
        name=name,
        steps=steps,
        loss=_average_losses(recording.losses, steps),
        tensors=tuple(_build_series(key, moments, with_heat=with_heat) for key in known),
        findings=tuple(
            Finding(step=found.step, node=found.node, kind=found.kind, what=found.what, text=found.text)
            for found in recording.anomalies
        ),
        strangers=tuple(dict.fromkeys(key.node for key in keys if key.node not in places)),
        notes=recording.notes if with_heat else (*recording.notes, _NO_MAPS),
    )


def _average_losses(losses: Sequence[tuple[int, float]], steps: Sequence[int]) -> tuple[float | None, ...]:
    """Average the losses of each moment, which includes all steps since the moment before."""
    ends = [bisect_right(losses, step, key=itemgetter(0)) for step in steps]
    found = []
    for start, end in pairwise((0, *ends)):
        mean = fmean(value for _, value in losses[start:end]) if end > start else math.nan
        found.append(float(f"{mean:.4g}") if math.isfinite(mean) else None)
    return tuple(found)


def _build_series(key: Key, moments: Sequence[Moment], *, with_heat: bool) -> TensorSeries:
    rows = [moment.rows.get(key) for moment in moments]
    histograms = [None if row is None else row.histogram for row in rows]
    return TensorSeries(
        node=key.node,
        kind=cast("Shown", key.kind),
        name=key.tensor,
        seen="".join("0" if row is None else "1" for row in rows),
        values=_encode_statistics(rows),
        heat=_build_heat(histograms) if with_heat and key.kind in WITH_HEAT else None,
    )


def _encode_statistics(rows: Sequence[Row | None]) -> dict[str, Series]:
    """Encode each statistic that any row has."""
    found = {}
    for name, attribute in _STATISTICS.items():
        encode = _encode_share if attribute.endswith("_share") else _encode
        codes = [None if row is None else encode(getattr(row, attribute)) for row in rows]
        if any(one is not None for one in codes):
            found[name] = _take_differences(codes)
    return found


def _encode(value: float | None) -> int | None:
    """Encode a number as an integer: 100 · log10 of its magnitude + 5000, with the number's sign; 0 for zero."""
    if value is None or not math.isfinite(value):
        return None
    return int(math.copysign(max(1, round(100 * math.log10(abs(value))) + 5000), value)) if value else 0


def _encode_share(share: float | None) -> int | None:
    """Encode a share in thousandths; only an exact zero becomes 0."""
    if share is None:
        return None
    return max(1, round(1000 * share)) if share else 0


def _take_differences(series: Iterable[int | None]) -> Series:
    found: list[int | None] = []
    before = 0
    for code in series:
        found.append(None if code is None else code - before)
        before = before if code is None else code
    return tuple(found)


def _build_heat(histograms: Sequence[Histogram | None]) -> Heat | None:
    counts = [_count_finite(histogram) for histogram in histograms]
    sizes = Counter[int]()
    for column in counts:
        for bin_, n in column.items():
            sizes[abs(bin_)] += n
    is_coarse = any(histogram is not None and histogram.per_octave < PER_OCTAVE for histogram in histograms)
    if is_coarse or not (bounds := _find_bounds(sizes)):  # wider bins can't be split
        return None
    lowest, highest = bounds
    bins = [*range(highest, lowest - 1, -1), 0, *range(-lowest, -highest - 1, -1)]
    columns = [_shade_column(column, lowest) for column in counts]
    rows = tuple("".join(column.get(bin_, "0") for column in columns) for bin_ in bins)
    return Heat(lowest=lowest, highest=highest, rows=rows)


def _count_finite(histogram: Histogram | None) -> dict[int, int]:
    counts = histogram.counts if histogram else {}
    return {bin_: n for bin_, n in counts.items() if abs(bin_) < INFINITE}


def _find_bounds(sizes: Counter[int]) -> tuple[int, int] | None:
    """Return the lowest and the highest bin to show."""
    sizes = Counter({bin_: n for bin_, n in sizes.items() if bin_})
    if not sizes:
        return None
    highest, left = max(sizes), _NEAR_ZERO * sizes.total()
    for lowest in sorted(sizes):
        left -= sizes[lowest]
        if left < 0:
            break
    return max(lowest, highest - _MOST_BINS + 1), highest


def _shade_column(column: dict[int, int], lowest: int) -> dict[int, str]:
    """Map bins to digits; magnitudes below the lowest bin count as zero."""
    counts = Counter[int]()
    for bin_, n in column.items():
        counts[bin_ if abs(bin_) >= lowest else 0] += n
    total = counts.total()
    return {bin_: str(_shade(n / total)) for bin_, n in counts.items()}


def _shade(share: float) -> int:
    return min(_DARKEST, max(1, _DARKEST + 2 + math.floor(math.log2(share))))
