"""Appends to a file, even to one left by a crash."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from modeldiagrams.errors import RecordingError
from modeldiagrams.watching.file.encoding import Decoder, Encoder
from modeldiagrams.watching.file.frames import MAGIC, iter_payloads, read_payload

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from modeldiagrams.watching.file.records import FileFrame, Key

__all__ = ["Writer", "check_beginning"]

_HELD = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}
"""Errors for a lock that another process holds."""
_BEHIND = 1 << 62
"""The locked byte: Windows prevents reading locked bytes, so it lies beyond the end of any recording."""


class Writer:
    """Appends frames to a recording, after the last complete frame of an existing file.

    Attributes:
        size: The size of the file so far, in bytes.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open a file.

        Raises:
            OSError: if it can't be written.
            RecordingError: if it is not a recording, or another process writes it.
        """
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO = open(path, "r+b", buffering=0, opener=_open_or_create)  # noqa: SIM115 (it stays open; pathlib has no opener)
        try:
            _lock(self._file, self.path)
            names, self.size = _read_state(self._file.read(), self.path)
            self._encoder = Encoder(names)
            self._file.truncate(self.size)
            if not self.size:
                self._append(MAGIC)
        except BaseException:
            self.close()
            raise

    def add(self, frame: FileFrame) -> None:
        """Append a frame.

        Raises:
            OSError: if it can't be written. The file then ends with the frame before.
        """
        self._append(read_payload(self._encoder.encode(frame)))

    def close(self) -> None:
        """Close the file."""
        if sys.platform != "win32" and not self._file.closed:  # a forked worker would keep the lock
            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()

    def _append(self, data: bytes) -> None:
        self._file.seek(self.size)
        try:
            written = 0
            while written < len(data):  # a full disk takes a part and raises only for the rest
                written += self._file.write(data[written:]) or 0
        except OSError:
            self._file.truncate(self.size)
            raise
        self.size += len(data)


def check_beginning(data: bytes, path: Path) -> None:
    """Check that a file begins like a recording, as far as it is written.

    Raises:
        RecordingError: if not.
    """
    found = data[: len(MAGIC)]
    if MAGIC.startswith(found):
        return
    if found.startswith(MAGIC[:-1]):
        raise RecordingError(f"{path}: a recording of format {found[-1:].decode()!r}, which this version can't read")
    raise RecordingError(f"{path}: expected a recording, which begins with {MAGIC.decode()!r}; got {found!r}")


def _open_or_create(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT, 0o666)


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock the file until it is closed or the process ends. Readers need no lock."""
    try:
        if sys.platform == "win32":
            file.seek(_BEHIND)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            file.seek(0)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:  # some network drives don't support locks
            raise RecordingError(
                f"{path}: is being written by another process, or by a watcher that is still open; use another path, "
                "or close the other watcher first"
            ) from error


def _read_state(data: bytes, path: Path) -> tuple[list[Key], int]:
    """Return the keys in a file, and the end of its last complete frame; 0 for a new file."""
    check_beginning(data, path)
    decoder, end = Decoder(path), len(MAGIC) if data.startswith(MAGIC) else 0
    for payload, end in iter_payloads(data):  # noqa: B007 (writing continues at the last end)
        decoder.decode(payload)
    return decoder.names, end
