"""Layers that are to be trained and don't change, while others do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.watching.file.records import Anomaly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.watching.file.records import Moment

__all__ = ["frozen_layers"]

_LASTING = 3
_TEXT = "its parameters don't change, though those of other modules do"


def frozen_layers(moments: Sequence[Moment]) -> list[Anomaly]:
    """One for each module, from the moment on from which it lasts."""
    changes = [(moment.step, _changes(moment)) for moment in moments if not moment.skipped]
    moving = [(step, by_node) for step, by_node in changes if any(by_node.values())]
    found = []
    for node in dict.fromkeys(node for _, by_node in moving for node in by_node):
        own = [(step, by_node[node]) for step, by_node in moving if node in by_node]
        changed = [at for at, (_, has_changed) in enumerate(own) if has_changed]
        still = own[changed[-1] + 1 if changed else 0 :]
        if len(still) >= _LASTING:
            found.append(Anomaly(step=still[0][0], kind="frozen", node=node, what="update", text=_TEXT))
    return found


def _changes(moment: Moment) -> dict[str, bool]:
    """Whether the optimizer changed any parameter of a module. Those that no optimizer has, have gradients only."""
    found: dict[str, bool] = {}
    for key, row in moment.rows.items():
        if key.kind in {"update", "parameter_gradient"}:
            found[key.node] = found.get(key.node, False) or (key.kind == "update" and row.norm > 0)
    return found
