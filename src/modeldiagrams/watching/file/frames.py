"""Frames: length, checksum, compressed bytes. An incomplete last frame, as after a crash, is recognised and ignored."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAGIC", "iter_payloads", "read_payload"]

MAGIC = b"mdwatch1"
"""The first bytes of every recording; the digit is the major version of the format."""
_HEAD = struct.Struct("<II")
_MOST = 1 << 30
"""The maximum length of a frame; a larger number means damage."""


def read_payload(payload: bytes) -> bytes:
    """Frame a payload for appending to the file."""
    packed = zlib.compress(payload, 6)
    return _HEAD.pack(len(packed), zlib.crc32(packed)) + packed


def iter_payloads(data: bytes, start: int = len(MAGIC)) -> Iterator[tuple[bytes, int]]:
    """Yield the payloads of frames, each with its end position, up to the first incomplete or damaged frame."""
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
