"""The recording of a training, as scripts use it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.common.files import write_atomically
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.watching.anomalies.find import AnomalyFinder
from modeldiagrams.watching.file.encoding import Encoder
from modeldiagrams.watching.file.frames import MAGIC, read_payload
from modeldiagrams.watching.file.records import Anomaly, FileFrame, Key, Kind, Loss, Moment, Row, Run
from modeldiagrams.watching.reduction import reduce_moments

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import pandas as pd

__all__ = ["Recording"]

_MEASURES = ("count", "zero_share", "bad_share", "min", "max", "mean", "norm", "rms", "dead_share", "ratio")


class Recording:
    """A training recorded by `watch`.

    Attributes:
        runs: The start of the run and of each resumption.
        moments: Recorded steps and passes of other phases, in order. A moment has one row for each tensor, by its key:
            node, kind and name of the tensor.
        losses: The losses passed to `Watcher.step`, with their steps; of all steps, not only recorded ones.
        noticed: Anomalies noticed during training.
    """

    def __init__(
        self,
        runs: Sequence[Run] = (),
        moments: Sequence[Moment] = (),
        losses: Sequence[Loss] = (),
        noticed: Sequence[Anomaly] = (),
    ) -> None:
        self.runs = tuple(runs)
        self.moments = tuple(sorted(moments, key=lambda moment: moment.step))
        self.losses = tuple(losses)
        self.noticed = tuple(noticed)

    def __repr__(self) -> str:
        """Return a short text, because notebooks show it."""
        return f"<recording of {self.model or 'a model'}: {len(self.steps)} moments, {len(self.keys)} tensors>"

    @property
    def model(self) -> str:
        """Full name of the model's class."""
        return self.runs[-1].model if self.runs else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the reader."""
        notes = [note for run in self.runs for note in run.notes]
        if any(moment.traced for moment in self.moments):
            notes.append("The model was also exported or traced, which is not recorded.")
        return tuple(dict.fromkeys(notes))

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """Recorded steps of training."""
        return tuple(moment.step for moment in self.moments if moment.phase == "train")

    @cached_property
    def phases(self) -> tuple[str, ...]:
        """``train`` and others, such as ``validation``, in order of first appearance."""
        return tuple(dict.fromkeys(moment.phase for moment in self.moments))

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """All tensors that have rows, in order of first appearance."""
        return tuple(dict.fromkeys(key for moment in self.moments for key in moment.rows))

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The ids of all module calls that have rows, as in the graph; ``""`` is the model itself."""
        return tuple(dict.fromkeys(key.node for key in self.keys))

    @cached_property
    def anomalies(self) -> tuple[Anomaly, ...]:
        """What went wrong, the most important first, each with step and node."""
        if self.is_reduced:
            return self.noticed
        finder = AnomalyFinder()
        for moment in self.moments:
            if moment.phase == "train":
                finder.add(moment)
        return tuple(finder.anomalies(self.losses, self.noticed))

    @property
    def is_reduced(self) -> bool:
        """Whether its moments were merged from others."""
        return any(moment.last is not None for moment in self.moments)

    def rows(
        self,
        node: str | None = None,
        kind: Kind | None = None,
        tensor: str | None = None,
        phase: str | None = "train",
    ) -> list[tuple[int, Key, Row]]:
        """Select rows, with their step and key; omitted arguments match anything.

        Args:
            node: The id of a module call, as in the graph.
            kind: ``activation``, ``gradient``, ``parameter``, ``parameter_gradient``, ``update`` or ``input``.
            tensor: The name of the tensor: ``output``, ``weight``.
            phase: ``train``, ``validation``.
        """
        keys = [key for key in self.keys if _matches(key, node, kind, tensor)]
        moments = [moment for moment in self.moments if phase in (None, moment.phase)]
        return [(moment.step, key, moment.rows[key]) for moment in moments for key in keys if key in moment.rows]

    def series(self, key: Key, measure: str, phase: str = "train") -> list[tuple[int, float]]:
        """Return one measure of one tensor over time.

        Args:
            key: The tensor.
            measure: An attribute of rows: ``norm``, ``rms``, ``zero_share``, ``dead_share``, ``ratio``, …
            phase: ``train``, ``validation``.
        """
        rows = ((m.step, m.rows[key]) for m in self.moments if m.phase == phase and key in m.rows)
        values = ((step, getattr(row, measure)) for step, row in rows)
        return [(step, value) for step, value in values if value is not None]

    def reduced(self, most: int = 200, per_octave: int = 4) -> Recording:
        """Return a recording with fewer moments, merged exactly; losses and anomalies stay the same.

        Args:
            most: The maximum number of moments of each phase.
            per_octave: Histogram bins between a number and its double: 4, 2 or 1.
        """
        moments = reduce_moments(self.moments, most, per_octave)
        return Recording(self.runs, moments, self.losses, self.anomalies)

    def to_bytes(self) -> bytes:
        """Return the content of a file that `load_recording` reads."""
        encoder = Encoder([])
        frames = [FileFrame(record=run) for run in self.runs or (Run(step=0),)]
        frames[-1].losses = list(self.losses)
        frames += [FileFrame(record=moment) for moment in self.moments]
        frames += [FileFrame(record=anomaly) for anomaly in self.noticed]
        return MAGIC + b"".join(read_payload(encoder.encode(frame)) for frame in frames)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file that `load_recording` reads."""
        write_atomically(Path(path), self.to_bytes())

    def to_pandas(self) -> pd.DataFrame:
        """Return a table with one line for each row of each moment; needs pandas.

        Raises:
            ModelDiagramsError: if pandas is not installed.
        """
        try:
            import pandas  # noqa: PLC0415, ICN001 (optional)
        except ImportError as error:
            raise ModelDiagramsError("tables need pandas: pip install pandas") from error
        lines = [_build_line(moment, key, row) for moment in self.moments for key, row in moment.rows.items()]
        return pandas.DataFrame(lines, columns=["step", "phase", *Key._fields, *_MEASURES])


def _matches(key: Key, node: str | None, kind: str | None, tensor: str | None) -> bool:
    return node in (None, key.node) and kind in (None, key.kind) and tensor in (None, key.tensor)


def _build_line(moment: Moment, key: Key, row: Row) -> tuple[Any, ...]:
    return (moment.step, moment.phase, *key, *(getattr(row, measure) for measure in _MEASURES))
