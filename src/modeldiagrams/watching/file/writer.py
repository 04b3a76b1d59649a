"""Appending to a file, also to one that a crash left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from modeldiagrams.errors import RecordingError
from modeldiagrams.watching.file.encoding import Decoder, Encoder
from modeldiagrams.watching.file.frames import MAGIC, framed, payloads

if TYPE_CHECKING:
    import os

    from modeldiagrams.watching.file.records import Frame, Key

__all__ = ["Writer", "check_beginning"]


class Writer:
    """Appends frames to a recording; goes on behind the last whole frame of a file that exists.

    Attributes:
        size: Bytes of the file so far.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open a file.

        Raises:
            OSError: if it can't be written.
            RecordingError: if it is something else than a recording.
        """
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        names, self.size = _state(self.path)
        self._encoder = Encoder(names)
        self._file: BinaryIO = self.path.open("r+b" if self.path.exists() else "w+b", buffering=0)
        self._file.truncate(self.size)
        if not self.size:
            self._append(MAGIC)

    def add(self, frame: Frame) -> None:
        """Append a frame.

        Raises:
            OSError: if it can't be written. The file then ends with the frame before.
        """
        self._append(framed(self._encoder.encode(frame)))

    def close(self) -> None:
        """Close the file."""
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


def _state(path: Path) -> tuple[list[Key], int]:
    """The names in a file, and where its last whole frame ends; 0 for a file that has to be begun."""
    if not path.exists():
        return [], 0
    data = path.read_bytes()
    check_beginning(data, path)
    decoder, end = Decoder(), len(MAGIC) if data.startswith(MAGIC) else 0
    for payload, end in payloads(data):  # noqa: B007 (the last is where writing goes on)
        decoder.decode(payload)
    return decoder.names, end
