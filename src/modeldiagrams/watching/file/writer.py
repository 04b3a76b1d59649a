"""Appending to a file, also to one that a crash left."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from modeldiagrams.errors import RecordingError
from modeldiagrams.watching.file.encoding import Decoder, Encoder
from modeldiagrams.watching.file.frames import MAGIC, framed, payloads

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from modeldiagrams.watching.file.records import Frame, Key

__all__ = ["Writer", "check_beginning"]

_HELD = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}
"""What systems say of a lock that another has."""
_BEHIND = 1 << 62
"""Windows lets nobody read bytes that are locked: one is taken that no recording has."""


class Writer:
    """Appends frames to a recording; goes on behind the last whole frame of a file that exists.

    Attributes:
        size: Bytes of the file so far.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open a file.

        Raises:
            OSError: if it can't be written.
            RecordingError: if it is something else than a recording, or another writes it.
        """
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO = open(path, "r+b", buffering=0, opener=_opened)  # noqa: SIM115 (it stays open; pathlib has no opener)
        try:
            _lock(self._file, self.path)
            names, self.size = _state(self._file.read(), self.path)
            self._encoder = Encoder(names)
            self._file.truncate(self.size)
            if not self.size:
                self._append(MAGIC)
        except BaseException:
            self.close()
            raise

    def add(self, frame: Frame) -> None:
        """Append a frame.

        Raises:
            OSError: if it can't be written. The file then ends with the frame before.
        """
        self._append(framed(self._encoder.encode(frame)))

    def close(self) -> None:
        """Close the file."""
        if sys.platform != "win32" and not self._file.closed:  # a forked worker that has it, too, would keep the lock
            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()

    def _append(self, data: bytes) -> None:
        self._file.seek(self.size)
        try:
            written = 0
            while written < len(data):  # a full disk takes a part, and raises only for the rest
                written += self._file.write(data[written:]) or 0
        except OSError:
            self._file.truncate(self.size)
            raise
        self.size += len(data)


def check_beginning(data: bytes, path: Path) -> None:
    """Check that a file begins as recordings do, or as much of it as there is.

    Raises:
        RecordingError: if not.
    """
    found = data[: len(MAGIC)]
    if MAGIC.startswith(found):
        return
    if found.startswith(MAGIC[:-1]):
        raise RecordingError(f"{path}: a recording of format {found[-1:].decode()!r}, which this version can't read")
    raise RecordingError(f"{path}: expected a recording, which begins with {MAGIC.decode()!r}; got {found!r}")


def _opened(path: str, flags: int) -> int:
    """A file as it is; made if there is none."""
    return os.open(path, flags | os.O_CREAT, 0o666)


def _lock(file: BinaryIO, path: Path) -> None:
    """Take the file until it is closed or the process ends. Readers ask for no lock."""
    try:
        if sys.platform == "win32":
            file.seek(_BEHIND)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            file.seek(0)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:  # some network drives have no locks
            raise RecordingError(
                f"{path}: is being written by another process, or by a watcher that is still open; give another path, "
                "or close that one first"
            ) from error


def _state(data: bytes, path: Path) -> tuple[list[Key], int]:
    """The names in a file, and where its last whole frame ends; 0 for a file that has to be begun."""
    check_beginning(data, path)
    decoder, end = Decoder(path), len(MAGIC) if data.startswith(MAGIC) else 0
    for payload, end in payloads(data):  # noqa: B007 (the last is where writing goes on)
        decoder.decode(payload)
    return decoder.names, end
