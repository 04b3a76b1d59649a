"""Finds sudden growth: weights, updates, activations or gradients far larger than ever before."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from modeldiagrams.watching.file.records import Anomaly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.watching.file.records import Key, Kind, Moment

__all__ = ["JumpDetector", "format_factor"]

_FACTORS: dict[Kind, float] = {"parameter": 5, "update": 20, "activation": 20, "gradient": 100}
"""The factor over the largest of the moments before; causes come before their effects."""
_BEFORE = 4
"""How many moments must come first, because everything changes at the beginning of a training."""
_WINDOW = 8
_NEARLY_ALL = 0.8


class JumpDetector:
    """Finds one anomaly for each moment: where the jump began, or the whole model if nearly everything jumps."""

    def __init__(self) -> None:
        self._seen: dict[Key, deque[float]] = defaultdict(lambda: deque(maxlen=_WINDOW))
        self._found: list[Anomaly] = []
        self._has_jumped = False

    def add(self, moment: Moment) -> None:
        """Check the next moment."""
        found = self._find_jump(moment)
        if found is not None and not self._has_jumped:  # jumps right after another are its echoes
            self._found.append(found)
        self._has_jumped = found is not None
        for key, row in moment.rows.items():
            self._seen[key].append(row.rms)

    def anomalies(self) -> list[Anomaly]:
        """Return the anomalies so far."""
        return self._found

    def _find_jump(self, moment: Moment) -> Anomaly | None:
        jumped = dict(_iter_grown(moment, self._seen))
        for kind, factor in _FACTORS.items():
            grown = [key for key in jumped if key.kind == kind]
            if any(jumped[key] > factor for key in grown):
                return _build_anomaly(moment, grown, jumped)
        return None


def _iter_grown(moment: Moment, seen: dict[Key, deque[float]]) -> Iterator[tuple[Key, float]]:
    """Yield all tensors that grew much, even if not enough alone: together they show whether the whole model jumped."""
    for key, row in moment.rows.items():
        before = seen[key]
        if key.kind in _FACTORS and len(before) >= _BEFORE and row.rms > _FACTORS[key.kind] ** 0.5 * max(before) > 0:
            yield key, row.rms / max(before)


def _build_anomaly(moment: Moment, own: list[Key], jumped: dict[Key, float]) -> Anomaly:
    key = next(key for key in own if jumped[key] > _FACTORS[key.kind])
    count = sum(other.kind == key.kind for other in moment.rows)
    what = key.kind.replace("_", " ")
    if len(own) > 1 and len(own) >= _NEARLY_ALL * count:
        smallest = min(jumped[key] for key in own)
        text = f"{len(own)} of {count} {what}s are at least {format_factor(smallest)} times as large as before"
        return Anomaly(step=moment.step, kind="jump", what=key.kind, text=text)
    text = f"this {what} is {format_factor(jumped[key])} times as large as before"
    return Anomaly.of(key, moment.step, "jump", text)


def format_factor(factor: float) -> str:
    """Write a factor with three digits: ``8,140``, ``12.5``."""
    return f"{factor:.3g}" if factor < 100 else f"{float(f'{factor:.3g}'):,.0f}"  # noqa: PLR2004  (three digits)
