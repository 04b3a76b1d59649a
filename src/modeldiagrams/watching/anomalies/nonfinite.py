"""The first value that was infinite or NaN."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from modeldiagrams.watching.file.records import Anomaly

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modeldiagrams.watching.file.records import Key, Loss, Moment

__all__ = ["first_nonfinite"]

_ORDER = (("input", "activation"), ("gradient",), ("parameter_gradient",), ("update", "parameter"))
"""Kinds in the order of a step; rows of one kind are in the order in which they were measured."""


def first_nonfinite(moments: Sequence[Moment], losses: Sequence[Loss], noticed: Sequence[Anomaly]) -> list[Anomaly]:
    """Where it began, or nothing; what was noticed while training saw every step, rows see more of one."""
    told = [anomaly for anomaly in noticed if anomaly.kind == "nonfinite"][:1]
    found = [*_exact(told), *_in_rows(moments), *told, *_in_losses(losses)]
    return [min(found, key=lambda anomaly: anomaly.step)] if found else []


def _exact(told: list[Anomaly]) -> list[Anomaly]:
    """What a repeated pass found."""
    return [anomaly for anomaly in told if anomaly.what in {"input", "activation"}]


def _in_rows(moments: Sequence[Moment]) -> Iterator[Anomaly]:
    for moment in moments:
        if moment.skipped and moment.scale:  # how a gradient scaler finds its factor
            continue
        key = _first_bad(moment)
        if key is not None:
            row = moment.rows[key]
            text = f"{row.bad} of {row.count} values of this {key.kind.replace('_', ' ')} are infinite or NaN"
            yield _anomaly(moment.step, key, text)
            return


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
