"""Frames: length, checksum, compressed bytes. Whatever a crash left of the last one is recognised and ignored."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAGIC", "framed", "payloads"]

MAGIC = b"mdwatch1"
"""The first bytes of every recording; the digit is the major version of the format."""
_HEAD = struct.Struct("<II")
_MOST = 1 << 30
"""No frame is longer: a larger length is damage."""


def framed(payload: bytes) -> bytes:
    """A payload as it is appended to the file."""
    packed = zlib.compress(payload, 6)
    return _HEAD.pack(len(packed), zlib.crc32(packed)) + packed


def payloads(data: bytes, start: int = len(MAGIC)) -> Iterator[tuple[bytes, int]]:
    """Payloads of all whole frames, each with the position behind it; ends at the first that is cut off or damaged."""
    while start + _HEAD.size <= len(data):
        size, checksum = _HEAD.unpack_from(data, start)
        end = start + _HEAD.size + size
        packed = data[start + _HEAD.size : end]
        if size > _MOST or end > len(data) or zlib.crc32(packed) != checksum:
            return
        try:
            payload = zlib.decompress(packed)
        except zlib.error:
            return
        yield payload, end
        start = end
