"""Activations that are zero everywhere in nearly all of their units, and stay so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.watching.file.records import Anomaly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.watching.file.records import Key, Moment, Row

__all__ = ["dead_activations"]

_MOST = 0.9
"""Fewer dead units are usual where an activation has many and the batch is small."""
_LASTING = 2


def dead_activations(moments: Sequence[Moment]) -> list[Anomaly]:
    """One for each call of a module, from the moment on from which it lasts."""
    found = []
    for key in dict.fromkeys(key for moment in moments for key in moment.rows if key.kind == "activation"):
        own = [(moment.step, moment.rows[key]) for moment in moments if _is_trained(moment, key)]
        alive = [at for at, (_, row) in enumerate(own) if not _is_dead(row)]
        dead = own[alive[-1] + 1 if alive else 0 :]
        if len(dead) >= _LASTING:
            step, row = dead[0]
            shown = f"{row.dead} of {row.units} units are" if row.units else "all values are"
            text = f"{shown} zero for every example, until the end"
            found.append(Anomaly(step=step, kind="dead", node=key.node, what=key.kind, tensor=key.tensor, text=text))
    return found


def _is_trained(moment: Moment, key: Key) -> bool:
    """Whether it is an output that counts: one without units and without a gradient may be a mask, or a first state."""
    if key not in moment.rows:
        return False
    has_units = moment.rows[key].units > 0
    return (
        has_units or key._replace(kind="gradient") in moment.rows or not any(k.kind == "gradient" for k in moment.rows)
    )


def _is_dead(row: Row) -> bool:
    return row.zeros == row.count if row.dead_share is None else row.dead_share >= _MOST
