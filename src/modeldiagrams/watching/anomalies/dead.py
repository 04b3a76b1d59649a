"""Finds activations whose units are nearly all zero and stay so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.watching.file.records import Anomaly, Key

if TYPE_CHECKING:
    from modeldiagrams.watching.file.records import Moment, Row

__all__ = ["DeadUnitDetector"]

_MOST = 0.9
"""A smaller share of dead units is usual if an activation has many units and the batch is small."""
_LASTING = 2


class DeadUnitDetector:
    """Finds one anomaly for each module call, at the moment since which its units are dead."""

    def __init__(self) -> None:
        self._dead: dict[Key, tuple[int, Row, int]] = {}
        """The step and row since which units are dead, and the number of moments."""

    def add(self, moment: Moment) -> None:
        """Check the next moment."""
        for key, row in moment.rows.items():
            if key.kind != "activation" or not _is_trained(moment, key):
                continue
            if _is_dead(row):
                step, first, n = self._dead.get(key, (moment.step, row, 0))
                self._dead[key] = step, first, n + 1
            else:
                self._dead.pop(key, None)

    def anomalies(self) -> list[Anomaly]:
        """Return the anomalies so far."""
        return [_build_anomaly(key, step, row) for key, (step, row, n) in self._dead.items() if n >= _LASTING]


def _build_anomaly(key: Key, step: int, row: Row) -> Anomaly:
    shown = f"{row.dead} of {row.units} units are" if row.units else "all values are"
    return Anomaly.of(key, step, "dead", f"{shown} zero for every example, until the end")


def _is_trained(moment: Moment, key: Key) -> bool:
    """Whether an output is worth checking: one without units and gradient may be a mask or an initial state."""
    has_units = moment.rows[key].units > 0
    return (
        has_units or key._replace(kind="gradient") in moment.rows or not any(k.kind == "gradient" for k in moment.rows)
    )


def _is_dead(row: Row) -> bool:
    return row.zeros == row.count if row.dead_share is None else row.dead_share >= _MOST
