"""Recordings as tests want them, without a training."""

from __future__ import annotations

from modeldiagrams import Recording
from modeldiagrams.watching.file.histogram import NAN, Histogram
from modeldiagrams.watching.file.records import Anomaly, Key, Loss, Moment, Row, Run

CONV, BLOCK = Key("block.conv", "activation"), Key("block", "activation")
WEIGHT = Key("block.conv", "update", "weight")


def row(step: int, **measures) -> Row:
    low, high = -40 - step % 300, 202 + step % 150
    counts = {low: 3, low + 1: 1, 0: 5, 201: 7, high: 300, NAN: step % 2}
    return Row(
        count=1000 + step,
        zeros=5,
        bad=step % 2,
        min=-1.5 * step,
        max=2.0 + step,
        mean=0.25,
        norm=float(3 + step),
        histogram=Histogram({index: n for index, n in counts.items() if n}),
        **measures,
    )


def moment(step: int, phase: str = "train") -> Moment:
    shared = row(step, dead=step, units=64)
    return Moment(step=step, phase=phase, rows={CONV: shared, BLOCK: shared, WEIGHT: row(step, ratio=0.5)})


def small_recording(steps: int = 3) -> Recording:
    return Recording(
        [Run(step=0, model="mypkg.Net", every=10, notes=("eager",))],
        [moment(10 * i) for i in range(steps)] + [moment(5, "validation")],
        [Loss(step, 1 / (1 + step)) for step in range(10 * steps)],
        [Anomaly(step=7, kind="nonfinite", node="block.conv", what="activation", text="NaN")],
    )
