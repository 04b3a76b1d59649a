"""Reads a recording while it grows: each frame is read, merged and searched for anomalies only once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.watching.anomalies.find import AnomalyFinder
from modeldiagrams.watching.file.encoding import Decoder
from modeldiagrams.watching.file.frames import MAGIC, iter_payloads
from modeldiagrams.watching.file.records import KINDS, Anomaly, Loss, Moment, Run
from modeldiagrams.watching.file.writer import check_beginning
from modeldiagrams.watching.reader import assemble, read_bytes
from modeldiagrams.watching.recording import Recording
from modeldiagrams.watching.reduction import MomentMerger

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from modeldiagrams.watching.file.records import FileFrame

__all__ = ["GrowingRecording"]

_LAST = 64
"""How many of the last bytes read are compared; they contain the checksum of a frame, or a whole short frame."""


class GrowingRecording:
    """A reduced recording of the training phase, updated from a growing file.

    Attributes:
        position: Where the last complete frame that was read ends.
    """

    def __init__(self, path: Path, most: int, per_octave: int, kinds: Collection[str] = KINDS) -> None:
        """Prepare to read; nothing is read yet.

        Args:
            path: The file.
            most: The maximum number of moments; an even number.
            per_octave: Bins of histograms.
            kinds: Kinds of tensors to keep histograms of; merging them takes most of the time.
        """
        self._path, self._most, self._per_octave, self._kinds = path, most, per_octave, kinds
        self._reset()

    def _reset(self) -> None:
        self.position = 0
        self._last = b""
        self._decoder, self._finder = Decoder(self._path), AnomalyFinder()
        self._merging = MomentMerger(self._most, self._per_octave, self._kinds)
        self._latest = -1
        self._is_reduced = False
        self._runs: list[Run] = []
        self._losses: list[Loss] = []
        self._noticed: list[Anomaly] = []

    def read(self) -> Recording:
        """Read the new frames.

        Raises:
            RecordingError: if the file can't be read or is no recording.
        """
        data = read_bytes(self._path, self.position - len(self._last))
        has_grown = bool(self._last) and data.startswith(self._last)
        if not (has_grown and self._read_new(data[len(self._last) :])):
            self._read_all()
        found = self._noticed if self._is_reduced else self._finder.anomalies(self._losses, self._noticed)
        return Recording(self._runs, self._merging.moments(), self._losses, found)

    def _read_all(self) -> None:
        """Read the whole file, but decode the rows of one moment at a time: all at once would take much memory."""
        self._reset()
        data = read_bytes(self._path)
        check_beginning(data, self._path)
        found = self._frames(data, len(MAGIC), with_rows=False)
        whole = assemble(frame for frame, _ in found)
        self._runs, self._losses, self._noticed = [*whole.runs], [*whole.losses], [*whole.noticed]
        starts = {id(frame.record): start for frame, start in found if frame.record}
        for moment in whole.moments:
            if moment.phase == "train":
                payload, _ = next(iter_payloads(data, starts[id(moment)]))
                self._add_moment(self._decoder.with_rows(moment, payload))

    def _read_new(self, data: bytes) -> bool:
        """Read new frames; return False if they supersede earlier ones."""
        for frame, _ in self._frames(data, 0):
            if self._supersedes(frame):
                return False
            self._losses += frame.losses
            if isinstance(frame.record, Anomaly):
                self._noticed.append(frame.record)
            elif isinstance(frame.record, Moment):
                self._add_moment(frame.record)
        return True

    def _frames(self, data: bytes, start: int, *, with_rows: bool = True) -> list[tuple[FileFrame, int]]:
        """Decode frames, each with its start position."""
        found, end = [], start if len(data) >= start else 0  # the file's first bytes may be incomplete
        for payload, behind in iter_payloads(data, start):
            found.append((self._decoder.decode(payload, with_rows=with_rows), end))
            end = behind
        self._last = (self._last + data[:end])[-_LAST:]
        self.position += end
        return found

    def _supersedes(self, frame: FileFrame) -> bool:
        record = frame.record
        is_again = bool(frame.losses and self._losses and frame.losses[0].step <= self._losses[-1].step)
        if isinstance(record, Moment):  # moments of other phases aren't kept
            is_again |= record.phase == "train" and record.step < self._latest
        return is_again or isinstance(record, Run)

    def _add_moment(self, moment: Moment) -> None:
        if moment.phase == "train":
            self._latest = moment.step + 1
            self._is_reduced |= moment.last is not None  # its anomalies were found before it was reduced
            self._finder.add(moment)
            self._merging.add(moment)
