"""Reads a file into a `Recording`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from modeldiagrams.errors import RecordingError
from modeldiagrams.watching.file.encoding import Decoder
from modeldiagrams.watching.file.frames import iter_payloads
from modeldiagrams.watching.file.records import Anomaly, FileFrame, Loss, Moment, Run
from modeldiagrams.watching.file.writer import check_beginning
from modeldiagrams.watching.recording import Recording

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

__all__ = ["assemble", "load_recording", "read_bytes"]

_Record = TypeVar("_Record", Moment, Anomaly, Loss)


def load_recording(path: str | os.PathLike[str]) -> Recording:
    """Read a recording made by `watch`, even while it is being written or after a crash.

    Args:
        path: The file, ``run.mdwatch``.

    Returns:
        All complete frames of the file. If a run resumed from an earlier step, its later data replaces the earlier.

    Raises:
        RecordingError: if the file can't be read or is not a recording.
    """
    file = Path(path)
    data = read_bytes(file)
    check_beginning(data, file)
    decoder = Decoder(file)
    return assemble(decoder.decode(payload) for payload, _ in iter_payloads(data))


def read_bytes(file: Path, start: int = 0) -> bytes:
    """Read a file from a position on.

    Raises:
        RecordingError: if it can't be read.
    """
    try:
        with file.open("rb") as opened:
            opened.seek(start)
            return opened.read()
    except OSError as error:
        raise RecordingError(f"{file}: expected a recording that can be read: {error.strerror}") from error


def assemble(frames: Iterable[FileFrame]) -> Recording:
    """Combine frames into a recording."""
    runs: list[Run] = []
    moments: list[Moment] = []
    anomalies: list[Anomaly] = []
    losses: list[Loss] = []
    latest: dict[str, int] = {}
    for frame in frames:
        record = frame.record
        if isinstance(record, Run):
            runs.append(record)
            moments, anomalies, losses = (_cut_before(record.step, written) for written in (moments, anomalies, losses))
        elif isinstance(record, Moment):
            if latest.get(record.phase, -1) >= record.step:
                moments = [m for m in moments if m.phase != record.phase or m.step < record.step]
            moments.append(record)
            latest[record.phase] = record.step
        elif isinstance(record, Anomaly):
            anomalies.append(record)
        if frame.losses and losses and losses[-1].step >= frame.losses[0].step:
            losses = _cut_before(frame.losses[0].step, losses)
        losses += frame.losses
    return Recording(runs, moments, losses, anomalies)


def _cut_before(step: int, written: list[_Record]) -> list[_Record]:
    """Return the records of earlier steps."""
    return [record for record in written if record.step < step]
