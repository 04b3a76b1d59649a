"""Sudden growth: weights, updates, activations or gradients far larger than ever before."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from modeldiagrams.watching.file.records import Anomaly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.watching.file.records import Key, Kind, Moment

__all__ = ["Jumps"]

_FACTORS: dict[Kind, float] = {"parameter": 5, "update": 20, "activation": 20, "gradient": 100}
"""How much larger than the largest of the moments before; causes before what follows from them."""
_BEFORE = 4
"""So many moments must have gone before: at the beginning of a training, everything changes."""
_WINDOW = 8
_NEARLY_ALL = 0.8


class Jumps:
    """One for each moment: where it began, or the whole model where nearly everything jumps."""

    def __init__(self) -> None:
        self._seen: dict[Key, deque[float]] = defaultdict(lambda: deque(maxlen=_WINDOW))
        self._found: list[Anomaly] = []
        self._has_jumped = False

    def add(self, moment: Moment) -> None:
        """Look at the next moment."""
        found = self._next(moment)
        if found is not None and not self._has_jumped:  # those that follow without a pause are echoes
            self._found.append(found)
        self._has_jumped = found is not None
        for key, row in moment.rows.items():
            self._seen[key].append(row.rms)

    def found(self) -> list[Anomaly]:
        """What there is so far."""
        return self._found

    def _next(self, moment: Moment) -> Anomaly | None:
        jumped = dict(_jumped(moment, self._seen))
        for kind, factor in _FACTORS.items():
            grown = [key for key in jumped if key.kind == kind]
            if any(jumped[key] > factor for key in grown):
                return _anomaly(moment, grown, jumped)
        return None


def _jumped(moment: Moment, seen: dict[Key, deque[float]]) -> Iterator[tuple[Key, float]]:
    """All that has grown much, though it may not be enough alone: together it tells whether the model jumped."""
    for key, row in moment.rows.items():
        before = seen[key]
        if key.kind in _FACTORS and len(before) >= _BEFORE and row.rms > _FACTORS[key.kind] ** 0.5 * max(before) > 0:
            yield key, row.rms / max(before)


def _anomaly(moment: Moment, own: list[Key], jumped: dict[Key, float]) -> Anomaly:
    key = next(key for key in own if jumped[key] > _FACTORS[key.kind])
    count = sum(other.kind == key.kind for other in moment.rows)
    what = key.kind.replace("_", " ")
    if len(own) > 1 and len(own) >= _NEARLY_ALL * count:
        smallest = min(jumped[key] for key in own)
        text = f"{len(own)} of {count} {what}s are at least {smallest:.3g} times as large as before"
        return Anomaly(step=moment.step, kind="jump", what=key.kind, text=text)
    text = f"this {what} is {jumped[key]:.3g} times as large as before"
    return Anomaly(step=moment.step, kind="jump", node=key.node, what=key.kind, tensor=key.tensor, text=text)
