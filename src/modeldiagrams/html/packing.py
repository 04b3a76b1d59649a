"""Texts as pages carry them: compressed, in characters that no HTML parser, plugin, template or encoding changes."""

from __future__ import annotations

import base64
import zlib

__all__ = ["most_packed", "packed"]

_SAFE = str.maketrans("&<>`{}", ",./:[]")
"""Characters of base 85 that mean something elsewhere."""


def packed(content: bytes) -> str:
    """Compressed, and five characters for four bytes; `viewer/src/shared/unpack.ts` reads it."""
    return _written(zlib.compress(content, 9))


def most_packed(content: bytes) -> str:
    """As `packed`, in the shortest of some ways, for what is packed once: WebAssembly has few repeats."""
    ways = [(8, zlib.Z_DEFAULT_STRATEGY), (6, zlib.Z_DEFAULT_STRATEGY), (7, zlib.Z_FILTERED)]
    return _written(min((_compressed(content, *way) for way in ways), key=len))


def _compressed(content: bytes, memory: int, strategy: int) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS, memory, strategy)
    return compressor.compress(content) + compressor.flush()


def _written(compressed: bytes) -> str:
    return base64.b85encode(compressed).decode("ascii").translate(_SAFE)
