"""Gradients that become much larger or smaller on their way back through the model."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from modeldiagrams.watching.file.records import Anomaly, Key, Moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Gradients"]

_GROWN = 1e4
"""Against the largest gradient behind it."""
_GROWN_IN_ALL = 1e8
"""Against the gradients next to the losses, where each module makes them a little larger."""
_SHRUNK = 1e-6
"""Against the largest gradient behind it. Pooling over an image makes them smaller by its pixels, which is in order."""
_SUDDEN = 1e3
"""A change by more than this between neighbours is the doing of the module between them."""
_LASTING = 2


class Gradients:
    """Where gradients first became much larger than all behind, or so much smaller that they are lost to the end."""

    def __init__(self) -> None:
        self._edges: dict[Key, list[Key]] = defaultdict(list)
        self._exploding: list[Anomaly] = []
        self._vanishing: tuple[int, str, str] | None = None
        self._lasting = 0

    def add(self, moment: Moment, *, can_vanish: bool) -> None:
        """Look at the next moment."""
        for made, used in moment.edges:
            self._edges[made].append(used)
        arrivals = list(_arrivals(moment, self._edges))
        if not self._exploding:
            self._exploding = _exploding(moment.step, arrivals)
        if can_vanish and arrivals:
            self._add_vanishing(moment.step, _vanishing(arrivals))

    def _add_vanishing(self, step: int, found: tuple[str, str] | None) -> None:
        last = self._vanishing
        if found is None or (last is not None and found[0] != last[1] and self._lasting < _LASTING):
            self._vanishing, self._lasting = None, 0
        if found is not None:
            self._vanishing = self._vanishing or (step, *found)
            self._lasting += 1

    def found(self) -> list[Anomaly]:
        """What there is so far."""
        lost = self._vanishing
        is_lasting = lost is not None and self._lasting >= _LASTING
        return [*self._exploding, *([_anomaly("vanishing", *lost)] if lost is not None and is_lasting else [])]


def _exploding(step: int, arrivals: Sequence[_Arrival]) -> list[Anomaly]:
    for arrival in arrivals:
        at_once, in_all = arrival.size.times(arrival.largest), arrival.size.times(arrival.first)
        if at_once > _GROWN:
            node, text = _located(arrival)
            return [_anomaly("exploding", step, node, f"{text} {at_once:.0e} times as large")]
        if in_all > _GROWN_IN_ALL:
            text = f"the gradient of its output is {in_all:.0e} times as large as next to the loss"
            return [_anomaly("exploding", step, arrival.key.node, text)]
    return []


def _vanishing(arrivals: Sequence[_Arrival]) -> tuple[str, str] | None:
    for arrival in arrivals:
        size, largest = arrival.size.rms, arrival.largest.rms
        if size < _SHRUNK * largest:
            node, text = _located(arrival)
            left = f"{size / largest:.0e} of the largest behind" if size else "zero"
            return node, f"{text} {left}"
    return None


_Edges: TypeAlias = "Mapping[Key, Sequence[Key]]"
"""Output → outputs that were computed from it, through which its gradient comes."""


class _Size(NamedTuple):
    """How large a gradient is."""

    rms: float
    norm: float

    def times(self, other: _Size) -> float:
        """How many times as large as another, or 0 where that is zero.

        By the smaller of two ratios: a few numbers that all positions use have the sum of their gradients, which is
        large for each number, but not in all.
        """
        if not (other.rms and other.norm):
            return 0.0
        return min(self.rms / other.rms, self.norm / other.norm)

    def or_larger(self, other: _Size) -> _Size:
        """The larger of both, rms and norm each."""
        return _Size(max(self.rms, other.rms), max(self.norm, other.norm))


class _Arrival(NamedTuple):
    """How a gradient came to an output."""

    key: Key
    size: _Size
    behind: Key
    """The last of those it comes from directly."""
    before: float
    """Its rms."""
    largest: _Size
    """Of all on its ways from the losses."""
    first: _Size
    """The largest of those with which its ways begin."""


def _arrivals(moment: Moment, edges: _Edges) -> Iterator[_Arrival]:
    """Gradients as they arrived, but for those that come from a loss.

    Losses may be of very different sizes: a gradient is compared with those that it comes from, and where as many
    passes are in both.
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


def _located(arrival: _Arrival) -> tuple[str, str]:
    """The module between two gradients if the change is its doing, or else the one whose gradient is so different."""
    small, large = sorted((arrival.before, arrival.size.rms))
    if large > _SUDDEN * small:
        return arrival.behind.node, "on its way back through this module, the gradient becomes"
    return arrival.key.node, "the gradient of its output is"


def _anomaly(kind: str, step: int, node: str, text: str) -> Anomaly:
    return Anomaly(step=step, kind=kind, node=node, what="gradient", tensor="output", text=text)
