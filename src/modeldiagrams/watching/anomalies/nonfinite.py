"""The first value that was infinite or NaN."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from modeldiagrams.watching.file.records import Anomaly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.watching.file.records import Key, Loss, Moment

__all__ = ["Nonfinite"]

_ORDER = (("input", "activation"), ("gradient",), ("parameter_gradient",), ("update", "parameter"))
"""Kinds in the order of a step; rows of one kind are in the order in which they were measured."""


class Nonfinite:
    """Where it began, or nothing."""

    def __init__(self) -> None:
        self._first: list[Anomaly] = []

    def add(self, moment: Moment) -> None:
        """Look at the next moment."""
        is_usual = moment.skipped and moment.scale  # how a gradient scaler finds its factor
        key = None if self._first or is_usual else _first_bad(moment)
        if key is not None:
            row = moment.rows[key]
            text = f"{row.bad} of {row.count} values of this {key.kind.replace('_', ' ')} are infinite or NaN"
            self._first = [_anomaly(moment.step, key, text)]

    def found(self, losses: Sequence[Loss], noticed: Sequence[Anomaly]) -> list[Anomaly]:
        """The first so far; what was noticed while training saw every step, rows see more of one."""
        told = [anomaly for anomaly in noticed if anomaly.kind == "nonfinite"][:1]
        exact = [anomaly for anomaly in told if anomaly.what in {"input", "activation"}]  # a repeated pass found it
        found = [*exact, *self._first, *told, *_in_losses(losses)]
        return [min(found, key=lambda anomaly: anomaly.step)] if found else []


def _first_bad(moment: Moment) -> Key | None:
    for kinds in _ORDER:
        for key, row in moment.rows.items():
            if row.bad and key.kind in kinds:
                return key
    return None


def _in_losses(losses: Sequence[Loss]) -> list[Anomaly]:
    bad = [loss for loss in losses if not math.isfinite(loss.value)][:1]
    return [Anomaly(step=loss.step, kind="nonfinite", what="loss", text=f"the loss is {loss.value}") for loss in bad]


def _anomaly(step: int, key: Key, text: str) -> Anomaly:
    return Anomaly(step=step, kind="nonfinite", node=key.node, what=key.kind, tensor=key.tensor, text=text)
