"""Histograms whose bins are the leading bits of a float32: identical on every device, and merged by addition."""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

from modeldiagrams.watching.file.varints import get_varints, put_varint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["FINEST", "INFINITE", "LOWEST_EXPONENT", "NAN", "OCTAVES", "Histogram", "find_center", "list_edges"]

FINEST = 4
"""Bins per octave, as recorded."""
LOWEST_EXPONENT = -64
"""Values below 2 to the power of this are in the bins next to zero."""
OCTAVES = 96
INFINITE = OCTAVES * FINEST + 1
"""The bin of infinity; that of minus infinity is the negative."""
NAN = INFINITE + 1


def list_edges(index: int, per_octave: int = FINEST) -> tuple[float, float]:
    """Return the bounds of a bin, the lower first: bin 0 is zero, 1 the smallest positive numbers, -1 the negative."""
    if index == 0:
        return 0.0, 0.0
    low, high = _lower_edge(abs(index), per_octave), _lower_edge(abs(index) + 1, per_octave)
    return (low, high) if index > 0 else (-high, -low)


def _lower_edge(size: int, per_octave: int) -> float:
    octave, part = divmod(size - 1, per_octave)
    return math.ldexp(1 + part / per_octave, octave + LOWEST_EXPONENT)


def find_center(index: int, per_octave: int = FINEST) -> float:
    """Return the value that represents a bin; infinity and NaN have bins of their own."""
    if index == NAN:
        return math.nan
    if abs(index) == INFINITE:
        return math.copysign(math.inf, index)
    return sum(list_edges(index, per_octave)) / 2


class Histogram:
    """The number of values in each bin.

    Attributes:
        per_octave: Bins between a number and its double: 4, 2 or 1.
    """

    __slots__ = ("_counts", "_raw", "per_octave")

    def __init__(self, counts: Mapping[int, int] | None = None, per_octave: int = FINEST, raw: bytes = b"") -> None:
        self._counts = None if counts is None else {bin_: counts[bin_] for bin_ in sorted(counts)}
        self._raw = raw
        self.per_octave = per_octave

    @property
    def counts(self) -> dict[int, int]:
        """The number of values in each bin that isn't empty, in ascending order, NaN last."""
        if self._counts is None:  # most histograms of a recording are never used
            self._counts = _decode(self._raw)
        return self._counts

    @property
    def total(self) -> int:
        """The number of sampled values."""
        return sum(self.counts.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Histogram) and (self.per_octave, self.counts) == (other.per_octave, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<histogram of {self.total} values in {len(self.counts)} bins>"

    def bars(self) -> list[tuple[float, float, int]]:
        """Return lower edge, upper edge and count of each bin with finite values."""
        finite = ((i, n) for i, n in self.counts.items() if abs(i) < INFINITE)
        return [(*list_edges(i, self.per_octave), n) for i, n in finite]

    def quantile(self, share: float) -> float:
        """Return the value below which this share of all numbers lies, to the width of a bin; NaN without numbers."""
        numbers = [(i, n) for i, n in self.counts.items() if i != NAN]
        wanted = share * sum(n for _, n in numbers)
        for (index, _), below in zip(numbers, accumulate(n for _, n in numbers), strict=True):
            if below >= wanted:
                return find_center(index, self.per_octave)
        return math.nan

    def add_to(self, counts: defaultdict[int, int], bins: Mapping[int, int]) -> None:
        """Add the count of each bin to another bin's.

        Args:
            counts: The counts to add to.
            bins: The bin to add to, by own bin.
        """
        if self._counts is not None:
            for index, n in self._counts.items():
                counts[bins[index]] += n
            return
        for start, numbers in _find_runs(self._raw):
            for index, n in enumerate(numbers, start):
                counts[bins[index]] += n

    def to_bytes(self) -> bytes:
        """Encode the histogram for a file, as runs of adjacent bins."""
        return self._raw if self._counts is None else _encode(self._counts)


def merge_histograms(histograms: Iterable[Histogram], per_octave: int = FINEST) -> Histogram:
    """Merge histograms, into bins of this width or of the widest among them."""
    every = [*histograms]
    per_octave = min([per_octave, *(histogram.per_octave for histogram in every)])
    counts: defaultdict[int, int] = defaultdict(int)
    for histogram in every:
        histogram.add_to(counts, _coarsen_bins(histogram.per_octave // per_octave))
    return Histogram(counts, per_octave)


@functools.cache
def _coarsen_bins(factor: int) -> dict[int, int]:
    return {index: _coarsen_bin(index, factor) for index in range(-INFINITE, NAN + 1)}


def _coarsen_bin(index: int, factor: int) -> int:
    if index == 0 or abs(index) >= INFINITE:
        return index
    return int(math.copysign((abs(index) - 1) // factor + 1, index))


def _encode(counts: Mapping[int, int]) -> bytes:
    """Encode each run of adjacent bins: the number of skipped bins, the number of bins, their counts."""
    bins = list(counts)
    starts = [0, *(at for at in range(1, len(bins)) if bins[at] != bins[at - 1] + 1)] if bins else []
    sizes = [_encode_varint(n) for n in counts.values()]
    out: list[bytes] = []
    end = -INFINITE
    for start, stop in zip(starts, [*starts[1:], len(bins)], strict=False):
        out += _encode_varint(bins[start] - end), _encode_varint(stop - start), *sizes[start:stop]
        end = bins[stop - 1] + 1
    return b"".join(out)


@functools.lru_cache(1 << 14)  # the same small numbers occur over and over
def _encode_varint(number: int) -> bytes:
    out = bytearray()
    put_varint(out, number)
    return bytes(out)


def _decode(raw: bytes) -> dict[int, int]:
    return {index: n for start, numbers in _find_runs(raw) for index, n in enumerate(numbers, start)}


def _find_runs(raw: bytes) -> Iterator[tuple[int, list[int]]]:
    """Yield the first bin of each run of adjacent bins, and the counts."""
    numbers = get_varints(raw)
    at, index = 0, -INFINITE
    while at < len(numbers):
        length = numbers[at + 1]
        index += numbers[at]
        yield index, numbers[at + 2 : at + 2 + length]
        index += length
        at += 2 + length
