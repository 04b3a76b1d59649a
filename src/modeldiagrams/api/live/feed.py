"""Follows files: what readers get when one has changed."""

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
"""Seconds between two looks at the file."""
_SHARE = 4
"""Reading takes at most one part in so many of the time, because the training needs the machine."""
_ALIVE = 15.0
"""Seconds after which a reader gets a message without news, so that a lost connection is noticed."""


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
    """The state of files, for any number of readers; they are read only while there are any, and only what is new.

    Attributes:
        is_over: Whether the server ends, and readers have to be let go.
    """

    def __init__(self, paths: Sequence[Path], graph: Graph) -> None:
        self._paths = paths
        self._recordings = [LiveRecording(graph, path) for path in paths]
        self._pages: dict[int, tuple[str, int, PageRecording]] = {}
        """By place of the file: what it looked like, how much was read, and the recording."""
        self._current: Message | None = None
        self._states: list[str] = []
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
            states = [_state(path) for path in self._paths]
            is_due = time.monotonic() >= self._not_before
            if self._current is None or (is_due and states != self._states):
                start = time.monotonic()
                self._states = states
                self._current = await asyncio.to_thread(self._read)
                end = time.monotonic()
                self._not_before = end + (_SHARE - 1) * (end - start)
            return self._current

    def _read(self) -> Message:
        """What to tell; its position is how far the files were read."""
        try:
            found = [self._page(at) for at in range(len(self._paths))]
        except RecordingError as error:
            return Message(",".join(["problem", *self._states]), "problem", msgspec.json.encode(str(error)))
        position = ",".join(f"{state.partition('-')[0]}-{offset}" for state, offset, _ in found)
        return Message(position, "recording", msgspec.json.encode([page for _, _, page in found]))

    def _page(self, at: int) -> tuple[str, int, PageRecording]:
        """What a file says; of one that hasn't changed, what it said."""
        state = self._states[at]
        if at not in self._pages or self._pages[at][0] != state:
            self._pages[at] = (state, *self._recordings[at].read())
        return self._pages[at]


def _state(path: Path) -> str:
    """Which file, and how long it is; another file may have taken its name."""
    try:
        status = path.stat()
    except OSError:
        return "none"
    return f"{status.st_ino:x}-{status.st_size}-{status.st_mtime_ns:x}"
