"""Exports a recording to TensorBoard."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from torch.utils.tensorboard import SummaryWriter

from modeldiagrams.watching.file.histogram import INFINITE, list_edges

if TYPE_CHECKING:
    import os

    from modeldiagrams.watching.file.records import Key, Moment, Row
    from modeldiagrams.watching.recording import Recording

__all__ = ["to_tensorboard"]

_SCALARS = ("norm", "zero_share", "bad_share", "dead_share", "ratio")


def to_tensorboard(recording: Recording, folder: str | os.PathLike[str]) -> None:
    """Write a recording as event files, with histograms in the recorded bins; needs tensorboard.

    Args:
        recording: The recording to write.
        folder: The log directory of TensorBoard.
    """
    with SummaryWriter(folder) as writer:
        for loss in recording.losses:
            writer.add_scalar("loss", loss.value, loss.step)
        for moment in recording.moments:
            for key, row in moment.rows.items():
                _add(writer, moment, key, row)


def _add(writer: Any, moment: Moment, key: Key, row: Row) -> None:
    phase = "" if moment.phase == "train" else f"{moment.phase}/"
    tag = f"{phase}{key.kind}/{key.node or 'model'}/{key.tensor}"
    for measure in _SCALARS:
        value = getattr(row, measure)
        if value is not None:
            writer.add_scalar(f"{tag}/{measure}", value, moment.step)
    counts = {index: n for index, n in row.histogram.counts.items() if abs(index) < INFINITE}
    if counts:
        writer.add_histogram_raw(tag, **_raw(row, counts), global_step=moment.step)


def _raw(row: Row, counts: dict[int, int]) -> dict[str, Any]:
    """Build the arguments of `add_histogram_raw`: bins by their upper limits, with empty ones to fill gaps."""
    limits: list[float] = []
    sizes: list[int] = []
    for index, n in counts.items():
        low, high = list_edges(index, row.histogram.per_octave)
        if not limits or limits[-1] < low:
            limits.append(low)
            sizes.append(0)
        limits.append(math.nextafter(high, math.inf) if index == 0 else high)
        sizes.append(n)
    total = sum(sizes)
    return {
        "min": row.min,
        "max": row.max,
        "num": total,
        "sum": row.mean * total,
        "sum_squares": row.rms**2 * total,
        "bucket_limits": limits,
        "bucket_counts": sizes,
    }
