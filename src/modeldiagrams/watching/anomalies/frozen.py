"""Finds trainable layers that don't change while others do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.watching.file.records import Anomaly

if TYPE_CHECKING:
    from modeldiagrams.watching.file.records import Key, Moment

__all__ = ["FrozenLayerDetector"]

_LASTING = 3
_TEXT = "its parameters don't change, though those of other modules do"


class FrozenLayerDetector:
    """Finds one anomaly for each module, at the moment since which it doesn't change."""

    def __init__(self) -> None:
        self._frozen: dict[str, tuple[int, int]] = {}
        """The step since which a module doesn't change, and the number of moments."""

    def add(self, moment: Moment) -> None:
        """Check the next moment; one in which nothing changes says nothing."""
        changes = {} if moment.skipped else _find_changes(moment)
        if not any(changes.values()):
            return
        for node, has_changed in changes.items():
            if has_changed:
                self._frozen.pop(node, None)
            else:
                step, n = self._frozen.get(node, (moment.step, 0))
                self._frozen[node] = step, n + 1

    def anomalies(self) -> list[Anomaly]:
        """Return the anomalies so far."""
        return [
            Anomaly(step=step, kind="frozen", node=node, what="update", text=_TEXT)
            for node, (step, n) in self._frozen.items()
            if n >= _LASTING
        ]


def _find_changes(moment: Moment) -> dict[str, bool]:
    """Tell for each module whether the optimizer changed any parameter; without an optimizer, there are no updates."""
    found: dict[str, bool] = {}
    for key, row in moment.rows.items():
        if key.kind in {"update", "parameter_gradient"}:
            has_changed = key.kind == "update" and (row.norm > 0 or _may_have_missed(moment, key))
            found[key.node] = found.get(key.node, False) or has_changed
    return found


def _may_have_missed(moment: Moment, update: Key) -> bool:
    """Whether the sample may have missed changed values: a batch uses few rows of a large embedding."""
    gradient = moment.rows.get(update._replace(kind="parameter_gradient"))
    return gradient is not None and gradient.zeros > 0 and moment.rows[update].count < gradient.count
