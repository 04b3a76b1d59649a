"""Gradients that become much larger or smaller on their way back through the model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from modeldiagrams.watching.file.records import Anomaly

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modeldiagrams.watching.file.records import Key, Moment

__all__ = ["exploding_gradients", "vanishing_gradients"]

_GROWN = 1e4
_SHRUNK = 1e-6
"""Against the largest gradient behind it. Pooling over an image makes them smaller by its pixels, which is in order."""
_SUDDEN = 1e3
"""A change by more than this between neighbours is the doing of the module between them."""
_LASTING = 2
"""Layers that begin with zeros, as the last ones of residual blocks do, let no gradient through in the first step."""


def exploding_gradients(moments: Sequence[Moment]) -> list[Anomaly]:
    """Where gradients first became much larger than all behind."""
    for moment in moments:
        for before, key, largest, size in _on_their_way(moment):
            if size > _GROWN * largest > 0:
                node, text = _blamed(before, key, size)
                return [_anomaly("exploding", moment.step, node, f"{text} {size / largest:.0e} times as large")]
    return []


def vanishing_gradients(moments: Sequence[Moment]) -> list[Anomaly]:
    """Where gradients became much smaller than the largest behind, and stay so until the end."""
    last: tuple[int, str, str] | None = None
    lasting = 0
    for moment in moments:
        way = list(_on_their_way(moment))
        if not way:
            continue
        found = _vanishing(way)
        if found is None or (last is not None and found[0] != last[1] and lasting < _LASTING):
            last, lasting = None, 0
        if found is not None:
            last, lasting = last or (moment.step, *found), lasting + 1
    return [_anomaly("vanishing", *last)] if last is not None and lasting >= _LASTING else []


def _vanishing(way: Sequence[tuple[tuple[Key, float], Key, float, float]]) -> tuple[str, str] | None:
    for before, key, largest, size in way:
        if size < _SHRUNK * largest:
            node, text = _blamed(before, key, size)
            left = f"{size / largest:.0e} of the largest behind" if size else "zero"
            return node, f"{text} {left}"
    return None


def _on_their_way(moment: Moment) -> Iterator[tuple[tuple[Key, float], Key, float, float]]:
    """Gradients as they arrived: the one before, key, the largest so far, and size."""
    largest = 0.0
    before: tuple[Key, float] | None = None
    seen: set[int] = set()
    for key, row in moment.rows.items():
        if key.kind != "gradient" or id(row) in seen or not math.isfinite(row.rms):
            continue
        seen.add(id(row))
        if before is not None:
            yield before, key, largest, row.rms
        largest, before = max(largest, row.rms), (key, row.rms)


def _blamed(before: tuple[Key, float], key: Key, size: float) -> tuple[str, str]:
    """The module between two gradients if the change is its doing, or else the one whose gradient is so different."""
    small, large = sorted((before[1], size))
    if large > _SUDDEN * small:
        return before[0].node, "on its way back through this module, the gradient becomes"
    return key.node, "the gradient of its output is"


def _anomaly(kind: str, step: int, node: str, text: str) -> Anomaly:
    return Anomaly(step=step, kind=kind, node=node, what="gradient", tensor="output", text=text)
