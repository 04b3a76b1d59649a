"""Gradients that become much larger or smaller on their way back through the model."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from modeldiagrams.watching.file.records import Anomaly, Key, Moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["exploding_gradients", "vanishing_gradients"]

_GROWN = 1e4
_SHRUNK = 1e-6
"""Against the largest gradient behind it. Pooling over an image makes them smaller by its pixels, which is in order."""
_SUDDEN = 1e3
"""A change by more than this between neighbours is the doing of the module between them."""
_LASTING = 2


def exploding_gradients(moments: Sequence[Moment]) -> list[Anomaly]:
    """Where gradients first became much larger than all behind."""
    for moment, edges in _with_edges(moments):
        for way in _ways(moment, edges):
            if way.size > _GROWN * way.largest > 0:
                node, text = _blamed(way)
                return [_anomaly("exploding", moment.step, node, f"{text} {way.size / way.largest:.0e} times as large")]
    return []


def vanishing_gradients(moments: Sequence[Moment], first: int) -> list[Anomaly]:
    """Where gradients became much smaller than the largest behind, and stay so until the end.

    Args:
        moments: All of the training.
        first: Which is the first to look at.
    """
    last: tuple[int, str, str] | None = None
    lasting = 0
    for at, (moment, edges) in enumerate(_with_edges(moments)):
        ways = list(_ways(moment, edges))
        if at < first or not ways:
            continue
        found = _vanishing(ways)
        if found is None or (last is not None and found[0] != last[1] and lasting < _LASTING):
            last, lasting = None, 0
        if found is not None:
            last, lasting = last or (moment.step, *found), lasting + 1
    return [_anomaly("vanishing", *last)] if last is not None and lasting >= _LASTING else []


def _vanishing(ways: Sequence[_Way]) -> tuple[str, str] | None:
    for way in ways:
        if way.size < _SHRUNK * way.largest:
            node, text = _blamed(way)
            left = f"{way.size / way.largest:.0e} of the largest behind" if way.size else "zero"
            return node, f"{text} {left}"
    return None


_Edges: TypeAlias = "Mapping[Key, Sequence[Key]]"
"""Output → outputs that were computed from it, through which its gradient comes."""


class _Way(NamedTuple):
    """How a gradient came to an output."""

    key: Key
    size: float
    behind: Key
    """The last of those it comes from directly."""
    before: float
    """Its size."""
    largest: float
    """Of all on its ways from the losses."""


def _with_edges(moments: Sequence[Moment]) -> Iterator[tuple[Moment, _Edges]]:
    edges: dict[Key, list[Key]] = defaultdict(list)
    for moment in moments:
        for made, used in moment.edges:
            edges[made].append(used)
        yield moment, edges


def _ways(moment: Moment, edges: _Edges) -> Iterator[_Way]:
    """Gradients as they arrived, but for those that come from a loss.

    Losses may be of very different sizes: a gradient is compared with those that it comes from, and where as many
    passes are in both.
    """
    largest: dict[Key, float] = {}
    arrived: dict[Key, int] = {}
    for key, row in moment.rows.items():
        if key.kind != "gradient" or row.count == row.fires or not math.isfinite(row.rms):  # a loss is one number
            continue
        used = (other for other in edges.get(key, ()) if other in largest)
        behind = [other for other in used if moment.rows[other].fires == row.fires]
        if behind:
            nearest = max(behind, key=arrived.__getitem__)
            most = max(largest[other] for other in behind)
            yield _Way(key, row.rms, nearest, moment.rows[nearest].rms, most)
        arrived[key] = len(arrived)
        largest[key] = max([row.rms, *(largest[other] for other in behind)])


def _blamed(way: _Way) -> tuple[str, str]:
    """The module between two gradients if the change is its doing, or else the one whose gradient is so different."""
    small, large = sorted((way.before, way.size))
    if large > _SUDDEN * small:
        return way.behind.node, "on its way back through this module, the gradient becomes"
    return way.key.node, "the gradient of its output is"


def _anomaly(kind: str, step: int, node: str, text: str) -> Anomaly:
    return Anomaly(step=step, kind=kind, node=node, what="gradient", tensor="output", text=text)
