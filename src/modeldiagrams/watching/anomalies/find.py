"""All anomalies of a recording, in the order in which they began: what comes first is often the cause of the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.watching.anomalies.dead import Dead
from modeldiagrams.watching.anomalies.frozen import Frozen
from modeldiagrams.watching.anomalies.gradients import Gradients
from modeldiagrams.watching.anomalies.jumps import Jumps
from modeldiagrams.watching.anomalies.nonfinite import Nonfinite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.watching.file.records import Anomaly, Loss, Moment

__all__ = ["RANKS", "Finder"]

RANKS = ("nonfinite", "dead", "exploding", "vanishing", "frozen", "jump")
"""Kinds that begin in the same step, the most telling first."""


class Finder:
    """Finds anomalies in moments that come one after the other, also while a training goes on."""

    def __init__(self) -> None:
        self._nonfinite, self._dead, self._gradients = Nonfinite(), Dead(), Gradients()
        self._frozen, self._jumps = Frozen(), Jumps()
        self._was_updated = False
        """Layers that begin with zeros let nothing through until they change, and rates may begin with zero, too."""

    def add(self, moment: Moment) -> None:
        """Look at the next moment of the training."""
        updates = [row.norm for key, row in moment.rows.items() if key.kind == "update"]
        is_under_way = self._was_updated or not (updates or moment.skipped)
        self._nonfinite.add(moment)
        self._gradients.add(moment, can_vanish=is_under_way)
        if is_under_way:
            self._dead.add(moment)
        self._frozen.add(moment)
        self._jumps.add(moment)
        self._was_updated = self._was_updated or any(updates)

    def found(self, losses: Sequence[Loss], noticed: Sequence[Anomaly]) -> list[Anomaly]:
        """All so far, in the order in which they began.

        Args:
            losses: Of all steps.
            noticed: What was noticed while training.
        """
        found = [
            *self._nonfinite.found(losses, noticed),
            *self._dead.found(),
            *self._gradients.found(),
            *self._frozen.found(),
            *self._jumps.found(),
            *(anomaly for anomaly in noticed if anomaly.kind not in RANKS),
        ]
        end = min((anomaly.step for anomaly in found if anomaly.kind == "nonfinite"), default=None)
        kept = [
            a for a in found if end is None or a.step <= end
        ]  # NaN and infinity make everything behind them strange
        return sorted(kept, key=lambda anomaly: (anomaly.step, _rank(anomaly)))


def _rank(anomaly: Anomaly) -> int:
    return RANKS.index(anomaly.kind) if anomaly.kind in RANKS else len(RANKS)
