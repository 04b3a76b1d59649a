"""Follows recordings and sends them to readers when they change."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from modeldiagrams.engine.recordings import LiveRecording, PageRecording
from modeldiagrams.errors import RecordingError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from modeldiagrams.ir.graph import Graph

__all__ = ["Feed", "Message"]

_LOOK = 0.25
"""Seconds between two checks of the file."""
_SHARE = 4
"""Reading takes at most this fraction (1/n) of the time, because the training needs the machine."""
_ALIVE = 15.0
"""Seconds after which readers get an empty message, so that lost connections are noticed."""


class Message(NamedTuple):
    """A message to readers."""

    position: str
    """The position in the files; readers who have it need no new message."""
    event: str
    data: bytes

    def to_bytes(self) -> bytes:
        """Encode the message as a server-sent event."""
        return b"id: %b\nevent: %b\ndata: %b\n\n" % (self.position.encode(), self.event.encode(), self.data)


class Feed:
    """Follows files for any number of readers; reads only while there are any, and only new data.

    Attributes:
        is_over: Whether the server is ending and connections must be closed.
    """

    def __init__(self, paths: Sequence[Path], graph: Graph) -> None:
        self._paths = paths
        self._recordings = [LiveRecording(graph, path) for path in paths]
        self._pages: dict[int, tuple[str, int, PageRecording]] = {}
        """By index of the file: its state, the position read up to, and the recording."""
        self._current: Message | None = None
        self._states: list[str] = []
        self._reading = asyncio.Lock()
        self._not_before = 0.0
        self.is_over: Callable[[], bool] = lambda: False

    async def messages(self, position: str | None) -> AsyncIterator[bytes]:
        """Yield new messages for a reader; slow readers miss messages that have been replaced meanwhile.

        Args:
            position: The position of the last message that the reader got on an earlier connection.
        """
        sent = time.monotonic()
        while not self.is_over():
            message = await self._newest()
            if message.position != position:
                position, sent = message.position, time.monotonic()
                yield message.to_bytes()
            elif time.monotonic() - sent > _ALIVE:
                sent = time.monotonic()
                yield b": nothing new\n\n"
            await asyncio.sleep(_LOOK)

    async def _newest(self) -> Message:
        async with self._reading:
            states = [_read_state(path) for path in self._paths]
            is_due = time.monotonic() >= self._not_before
            if self._current is None or (is_due and states != self._states):
                start = time.monotonic()
                self._states = states
                self._current = await asyncio.to_thread(self._read)
                end = time.monotonic()
                self._not_before = end + (_SHARE - 1) * (end - start)
            return self._current

    def _read(self) -> Message:
        """Read the files; the position of the message is how far they were read."""
        try:
            found = [self._read_page(at) for at in range(len(self._paths))]
        except RecordingError as error:
            return Message(",".join(["problem", *self._states]), "problem", msgspec.json.encode(str(error)))
        position = ",".join(f"{state.partition('-')[0]}-{offset}" for state, offset, _ in found)
        return Message(position, "recording", msgspec.json.encode([page for _, _, page in found]))

    def _read_page(self, at: int) -> tuple[str, int, PageRecording]:
        """Read a file if it has changed."""
        state = self._states[at]
        if at not in self._pages or self._pages[at][0] != state:
            self._pages[at] = (state, *self._recordings[at].read())
        return self._pages[at]


def _read_state(path: Path) -> str:
    """Return inode, size and time of a file; another file may have taken its name."""
    try:
        status = path.stat()
    except OSError:
        return "none"
    return f"{status.st_ino:x}-{status.st_size}-{status.st_mtime_ns:x}"
