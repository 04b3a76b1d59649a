"""Follows a file: what readers get when it has changed."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from modeldiagrams.engine.recordings import read_recordings
from modeldiagrams.errors import RecordingError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from modeldiagrams.ir.graph import Graph

__all__ = ["Feed", "Message"]

_LOOK = 0.25
"""Seconds between two looks at the file."""
_SHARE = 4
"""Reading takes at most one part in so many of the time, because the training needs the machine."""
_ALIVE = 15.0
"""Seconds after which a reader is told that nothing is new, so that a connection that is gone is noticed."""


class Message(NamedTuple):
    """Something to tell readers."""

    position: str
    """Of the file: a reader who has this message needs it no more."""
    event: str
    data: bytes

    def to_bytes(self) -> bytes:
        """As a server-sent event."""
        return b"id: %b\nevent: %b\ndata: %b\n\n" % (self.position.encode(), self.event.encode(), self.data)


class Feed:
    """The state of one file, for any number of readers; it is read only while there are any.

    Attributes:
        is_over: Whether the server ends, and readers have to be let go.
    """

    def __init__(self, path: Path, graph: Graph) -> None:
        self.path = path
        self._graph = graph
        self._current: Message | None = None
        self._reading = asyncio.Lock()
        self._not_before = 0.0
        self.is_over: Callable[[], bool] = lambda: False

    async def messages(self, position: str | None) -> AsyncIterator[bytes]:
        """What is new for a reader; one who is slow misses what has been replaced meanwhile.

        Args:
            position: Of the last message that the reader got, on an earlier connection.
        """
        told = time.monotonic()
        while not self.is_over():
            message = await self._newest()
            if message.position != position:
                position, told = message.position, time.monotonic()
                yield message.to_bytes()
            elif time.monotonic() - told > _ALIVE:
                told = time.monotonic()
                yield b": nothing new\n\n"
            await asyncio.sleep(_LOOK)

    async def _newest(self) -> Message:
        async with self._reading:
            current, position = self._current, self._position()
            is_due = time.monotonic() >= self._not_before
            if current is None or (is_due and current.position != position):
                start = time.monotonic()
                current = self._current = await asyncio.to_thread(self._read, position)
                end = time.monotonic()
                self._not_before = end + (_SHARE - 1) * (end - start)
            return current

    def _position(self) -> str:
        """Which file, and how long it is; another file may have taken its name."""
        try:
            status = self.path.stat()
        except OSError:
            return "none"
        return f"{status.st_ino:x}-{status.st_size}-{status.st_mtime_ns:x}"

    def _read(self, position: str) -> Message:
        try:
            (page,) = read_recordings(self._graph, {self.path.name: self.path})
        except RecordingError as error:
            return Message(position, "problem", msgspec.json.encode(str(error)))
        return Message(position, "recording", msgspec.json.encode(page))
