"""All anomalies of a recording, in the order in which they began: what comes first is often the cause of the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from modeldiagrams.watching.anomalies.dead import dead_activations
from modeldiagrams.watching.anomalies.frozen import frozen_layers
from modeldiagrams.watching.anomalies.gradients import exploding_gradients, vanishing_gradients
from modeldiagrams.watching.anomalies.jumps import jumps
from modeldiagrams.watching.anomalies.nonfinite import first_nonfinite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.watching.file.records import Anomaly, Loss, Moment

__all__ = ["RANKS", "find_anomalies"]

RANKS = ("nonfinite", "dead", "exploding", "vanishing", "frozen", "jump")
"""Kinds that begin in the same step, the most telling first."""


class Recorded(Protocol):
    """What is asked of a recording."""

    moments: tuple[Moment, ...]
    losses: tuple[Loss, ...]
    noticed: tuple[Anomaly, ...]


def find_anomalies(recording: Recorded) -> Sequence[Anomaly]:
    """All anomalies of a recording."""
    moments = [moment for moment in recording.moments if moment.phase == "train"]
    first = _behind_first_update(moments)
    found = [
        *first_nonfinite(moments, recording.losses, recording.noticed),
        *dead_activations(moments[first:]),
        *exploding_gradients(moments),
        *vanishing_gradients(moments, first),
        *frozen_layers(moments),
        *jumps(moments),
        *(anomaly for anomaly in recording.noticed if anomaly.kind not in RANKS),
    ]
    end = min((anomaly.step for anomaly in found if anomaly.kind == "nonfinite"), default=None)
    kept = [a for a in found if end is None or a.step <= end]  # NaN and infinity make everything behind them strange
    return sorted(kept, key=lambda anomaly: (anomaly.step, _rank(anomaly)))


def _behind_first_update(moments: Sequence[Moment]) -> int:
    """Layers that begin with zeros let nothing through until they have changed, and rates may begin with zero, too."""
    updates = [[row.norm for key, row in moment.rows.items() if key.kind == "update"] for moment in moments]
    if not any(updates):  # they aren't recorded
        return 0
    return next((at + 1 for at, norms in enumerate(updates) if any(norms)), len(moments))


def _rank(anomaly: Anomaly) -> int:
    return RANKS.index(anomaly.kind) if anomaly.kind in RANKS else len(RANKS)
