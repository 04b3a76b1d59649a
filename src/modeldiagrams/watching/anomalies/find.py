"""Finds all anomalies of a recording, in the order of their beginnings: the first often caused the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.watching.anomalies.dead import DeadUnitDetector
from modeldiagrams.watching.anomalies.frozen import FrozenLayerDetector
from modeldiagrams.watching.anomalies.gradients import GradientDetector
from modeldiagrams.watching.anomalies.jumps import JumpDetector
from modeldiagrams.watching.anomalies.nonfinite import NonfiniteDetector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.watching.file.records import Anomaly, Loss, Moment

__all__ = ["RANKS", "AnomalyFinder"]

RANKS = ("nonfinite", "dead", "exploding", "vanishing", "frozen", "jump")
"""The order of kinds that begin in the same step, the most informative first."""


class AnomalyFinder:
    """Finds anomalies moment by moment, even while the training goes on."""

    def __init__(self) -> None:
        self._nonfinite, self._dead, self._gradients = NonfiniteDetector(), DeadUnitDetector(), GradientDetector()
        self._frozen, self._jumps = FrozenLayerDetector(), JumpDetector()
        self._was_updated = False
        """Until then, layers initialised with zeros pass nothing on; learning rates may start at zero too."""

    def add(self, moment: Moment) -> None:
        """Check the next moment of the training."""
        updates = [row.norm for key, row in moment.rows.items() if key.kind == "update"]
        is_under_way = self._was_updated or not (updates or moment.skipped)
        self._nonfinite.add(moment)
        self._gradients.add(moment, can_vanish=is_under_way)
        if is_under_way:
            self._dead.add(moment)
        self._frozen.add(moment)
        self._jumps.add(moment)
        self._was_updated = self._was_updated or any(updates)

    def anomalies(self, losses: Sequence[Loss], noticed: Sequence[Anomaly]) -> list[Anomaly]:
        """Return all anomalies so far, in the order of their beginnings.

        Args:
            losses: The losses of all steps.
            noticed: Anomalies noticed during training.
        """
        found = [
            *self._nonfinite.anomalies(losses, noticed),
            *self._dead.anomalies(),
            *self._gradients.anomalies(),
            *self._frozen.anomalies(),
            *self._jumps.anomalies(),
            *(anomaly for anomaly in noticed if anomaly.kind not in RANKS),
        ]
        end = min((anomaly.step for anomaly in found if anomaly.kind == "nonfinite"), default=None)
        kept = [a for a in found if end is None or a.step <= end]  # later ones are effects of NaN and infinity
        return sorted(kept, key=lambda anomaly: (anomaly.step, _get_rank(anomaly)))


def _get_rank(anomaly: Anomaly) -> int:
    return RANKS.index(anomaly.kind) if anomaly.kind in RANKS else len(RANKS)
