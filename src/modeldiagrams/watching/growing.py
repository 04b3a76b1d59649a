"""A recording that is read while it grows: what was read once is neither read nor merged nor judged again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.watching.anomalies.find import Finder
from modeldiagrams.watching.file.encoding import Decoder
from modeldiagrams.watching.file.frames import MAGIC, payloads
from modeldiagrams.watching.file.records import KINDS, Anomaly, Loss, Moment, Run
from modeldiagrams.watching.file.writer import check_beginning
from modeldiagrams.watching.reader import assembled, read_from
from modeldiagrams.watching.recording import Recording
from modeldiagrams.watching.reduction import Merging

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from modeldiagrams.watching.file.records import Frame

__all__ = ["GrowingRecording"]

_LAST = 64
"""Bytes at the end of what was read that are compared: the checksum of a frame is among them, or all of a short one."""


class GrowingRecording:
    """The training of a recording, reduced.

    Attributes:
        position: Where the last whole frame that was read ends.
    """

    def __init__(self, path: Path, most: int, per_octave: int, kinds: Collection[str] = KINDS) -> None:
        """Read nothing yet.

        Args:
            path: The file.
            most: Moments, at most; an even number.
            per_octave: Bins of histograms.
            kinds: Of tensors whose histograms are wanted: to merge them takes most of the time.
        """
        self._path, self._most, self._per_octave, self._kinds = path, most, per_octave, kinds
        self._begin()

    def _begin(self) -> None:
        self.position = 0
        self._last = b""
        self._decoder, self._finder = Decoder(self._path), Finder()
        self._merging = Merging(self._most, self._per_octave, self._kinds)
        self._latest = -1
        self._is_reduced = False
        self._runs: list[Run] = []
        self._losses: list[Loss] = []
        self._noticed: list[Anomaly] = []

    def read(self) -> Recording:
        """Read what is new.

        Raises:
            RecordingError: if the file can't be read or is no recording.
        """
        data = read_from(self._path, self.position - len(self._last))
        is_longer = bool(self._last) and data.startswith(self._last)
        if not (is_longer and self._go_on(data[len(self._last) :])):
            self._read_all()
        found = self._noticed if self._is_reduced else self._finder.found(self._losses, self._noticed)
        return Recording(self._runs, self._merging.moments(), self._losses, found)

    def _read_all(self) -> None:
        """Read first what is in the file, then values, of one moment after the other: all together take much memory."""
        self._begin()
        data = read_from(self._path)
        check_beginning(data, self._path)
        found = self._frames(data, len(MAGIC), with_rows=False)
        whole = assembled(frame for frame, _ in found)
        self._runs, self._losses, self._noticed = [*whole.runs], [*whole.losses], [*whole.noticed]
        starts = {id(frame.record): start for frame, start in found if frame.record}
        for moment in whole.moments:
            if moment.phase == "train":
                payload, _ = next(payloads(data, starts[id(moment)]))
                self._add_moment(self._decoder.with_rows(moment, payload))

    def _go_on(self, data: bytes) -> bool:
        """Read what is new; False if what was read before counts no more."""
        for frame, _ in self._frames(data, 0):
            if self._goes_back(frame):
                return False
            self._losses += frame.losses
            if isinstance(frame.record, Anomaly):
                self._noticed.append(frame.record)
            elif isinstance(frame.record, Moment):
                self._add_moment(frame.record)
        return True

    def _frames(self, data: bytes, start: int, *, with_rows: bool = True) -> list[tuple[Frame, int]]:
        """Frames, each with the position where it begins."""
        found, end = [], start if len(data) >= start else 0  # of a beginning that is being written, nothing
        for payload, behind in payloads(data, start):
            found.append((self._decoder.decode(payload, with_rows=with_rows), end))
            end = behind
        self._last = (self._last + data[:end])[-_LAST:]
        self.position += end
        return found

    def _goes_back(self, frame: Frame) -> bool:
        record = frame.record
        is_again = bool(frame.losses and self._losses and frame.losses[0].step <= self._losses[-1].step)
        if isinstance(record, Moment):  # those of other phases aren't kept
            is_again |= record.phase == "train" and record.step < self._latest
        return is_again or isinstance(record, Run)

    def _add_moment(self, moment: Moment) -> None:
        if moment.phase == "train":
            self._latest = moment.step + 1
            self._is_reduced |= moment.last is not None  # its anomalies were found before it was reduced
            self._finder.add(moment)
            self._merging.add(moment)
