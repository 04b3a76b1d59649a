"""Finds the first value that was infinite or NaN."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from modeldiagrams.watching.file.records import Anomaly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.watching.file.records import Key, Loss, Moment

__all__ = ["NonfiniteDetector"]

_ORDER = (("input", "activation"), ("gradient",), ("parameter_gradient",), ("update", "parameter"))
"""Kinds in the order of a step; rows of one kind are in the order of measuring."""


class NonfiniteDetector:
    """Finds at most one anomaly: where non-finite values began."""

    def __init__(self) -> None:
        self._first: list[Anomaly] = []

    def add(self, moment: Moment) -> None:
        """Check the next moment."""
        is_usual = moment.skipped and moment.scale  # a gradient scaler finds its factor this way
        key = None if self._first or is_usual else _find_bad(moment)
        if key is not None:
            row = moment.rows[key]
            text = f"{row.bad} of {row.count} values of this {key.kind.replace('_', ' ')} are infinite or NaN"
            self._first = [Anomaly.of(key, moment.step, "nonfinite", text)]

    def anomalies(self, losses: Sequence[Loss], noticed: Sequence[Anomaly]) -> list[Anomaly]:
        """Return the first so far: what was noticed during training covers every step, rows show more of one step."""
        known = [anomaly for anomaly in noticed if anomaly.kind == "nonfinite"][:1]
        exact = [anomaly for anomaly in known if anomaly.what in {"input", "activation"}]  # from a repeated pass
        found = [*exact, *self._first, *known, *_find_in_losses(losses)]
        return [min(found, key=lambda anomaly: anomaly.step)] if found else []


def _find_bad(moment: Moment) -> Key | None:
    for kinds in _ORDER:
        for key, row in moment.rows.items():
            if row.bad and key.kind in kinds:
                return key
    return None


def _find_in_losses(losses: Sequence[Loss]) -> list[Anomaly]:
    bad = [loss for loss in losses if not math.isfinite(loss.value)][:1]
    return [Anomaly(step=loss.step, kind="nonfinite", what="loss", text=f"the loss is {loss.value}") for loss in bad]
