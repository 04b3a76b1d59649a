"""Finds gradients that become much larger or smaller on their way back through the model."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from modeldiagrams.watching.file.records import Anomaly, Key, Moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["GradientDetector"]

_GROWN = 1e4
"""Compared to the largest gradient on its way from the loss."""
_GROWN_IN_ALL = 1e8
"""Compared to the gradients next to the losses, if each module makes them a little larger."""
_SHRUNK = 1e-6
"""Compared to the largest gradient on its way. Pooling divides gradients by the number of pixels, which is fine."""
_SUDDEN = 1e3
"""A larger change between neighbours is caused by the module between them."""
_LASTING = 2


class GradientDetector:
    """Finds where gradients first explode, or vanish and stay so until the end."""

    def __init__(self) -> None:
        self._edges: dict[Key, list[Key]] = defaultdict(list)
        self._exploding: list[Anomaly] = []
        self._vanishing: tuple[int, str, str] | None = None
        self._lasting = 0

    def add(self, moment: Moment, *, can_vanish: bool) -> None:
        """Check the next moment."""
        for made, used in moment.edges:
            self._edges[made].append(used)
        arrivals = list(_iter_arrivals(moment, self._edges))
        if not self._exploding:
            self._exploding = _find_exploding(moment.step, arrivals)
        if can_vanish and arrivals:
            self._add_vanishing(moment.step, _find_vanishing(arrivals))

    def _add_vanishing(self, step: int, found: tuple[str, str] | None) -> None:
        last = self._vanishing
        if found is None or (last is not None and found[0] != last[1] and self._lasting < _LASTING):
            self._vanishing, self._lasting = None, 0
        if found is not None:
            self._vanishing = self._vanishing or (step, *found)
            self._lasting += 1

    def anomalies(self) -> list[Anomaly]:
        """Return the anomalies so far."""
        lost = self._vanishing
        is_lasting = lost is not None and self._lasting >= _LASTING
        return [*self._exploding, *([_build_anomaly("vanishing", *lost)] if lost is not None and is_lasting else [])]


def _find_exploding(step: int, arrivals: Sequence[_Arrival]) -> list[Anomaly]:
    for arrival in arrivals:
        at_once, in_all = arrival.size.times(arrival.largest), arrival.size.times(arrival.first)
        if at_once > _GROWN:
            node, text = _locate(arrival)
            return [_build_anomaly("exploding", step, node, f"{text} {at_once:.0e} times as large")]
        if in_all > _GROWN_IN_ALL:
            text = f"the gradient of its output is {in_all:.0e} times as large as next to the loss"
            return [_build_anomaly("exploding", step, arrival.key.node, text)]
    return []


def _find_vanishing(arrivals: Sequence[_Arrival]) -> tuple[str, str] | None:
    for arrival in arrivals:
        size, largest = arrival.size.rms, arrival.largest.rms
        if size < _SHRUNK * largest:
            node, text = _locate(arrival)
            left = f"{size / largest:.0e} of the largest behind" if size else "zero"
            return node, f"{text} {left}"
    return None


_Edges: TypeAlias = "Mapping[Key, Sequence[Key]]"
"""The outputs computed from an output, from which its gradient comes."""


class _Size(NamedTuple):
    """The size of a gradient."""

    rms: float
    norm: float

    def times(self, other: _Size) -> float:
        """Return the ratio to another size, or 0 if that is zero.

        This is the smaller of two ratios: a few numbers used by all positions have the sum of their gradients, which is
        large for each number but not in total.
        """
        if not (other.rms and other.norm):
            return 0.0
        return min(self.rms / other.rms, self.norm / other.norm)

    def or_larger(self, other: _Size) -> _Size:
        """Return the larger rms and the larger norm."""
        return _Size(max(self.rms, other.rms), max(self.norm, other.norm))


class _Arrival(NamedTuple):
    """A gradient that arrived at an output, and where it came from."""

    key: Key
    size: _Size
    behind: Key
    """The last output that it comes from directly."""
    before: float
    """The rms of the gradient there."""
    largest: _Size
    """The largest on its ways from the losses."""
    first: _Size
    """The largest at the beginning of its ways."""


def _iter_arrivals(moment: Moment, edges: _Edges) -> Iterator[_Arrival]:
    """Yield gradients in order of arrival, except those that come directly from a loss.

    Losses may differ greatly in size, so a gradient is compared only with those that it comes from, and that were
    summed over equally many passes.
    """
    largest: dict[Key, _Size] = {}
    first: dict[Key, _Size] = {}
    arrived: dict[Key, int] = {}
    for key, row in moment.rows.items():
        if key.kind != "gradient" or row.count == row.fires or not math.isfinite(row.rms):  # a loss is one number
            continue
        size = _Size(row.rms, row.norm)
        used = (other for other in edges.get(key, ()) if other in largest)
        behind = [other for other in used if moment.rows[other].fires == row.fires]
        if behind:
            most = reduce(_Size.or_larger, (largest[other] for other in behind))
            begun = reduce(_Size.or_larger, (first[other] for other in behind))
            nearest = max(behind, key=arrived.__getitem__)
            yield _Arrival(key, size, nearest, moment.rows[nearest].rms, most, begun)
            largest[key], first[key] = size.or_larger(most), begun
        else:
            largest[key] = first[key] = size
        arrived[key] = len(arrived)


def _locate(arrival: _Arrival) -> tuple[str, str]:
    """Return the module between two gradients if it caused the change, or else the one with the unusual gradient."""
    small, large = sorted((arrival.before, arrival.size.rms))
    if large > _SUDDEN * small:
        return arrival.behind.node, "on its way back through this module, the gradient becomes"
    return arrival.key.node, "the gradient of its output is"


def _build_anomaly(kind: str, step: int, node: str, text: str) -> Anomaly:
    return Anomaly(step=step, kind=kind, node=node, what="gradient", tensor="output", text=text)
