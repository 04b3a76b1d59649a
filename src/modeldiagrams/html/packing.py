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
    """As `packed`, in the shorter of two ways, for what is packed once: WebAssembly has few repeats."""
    fewer_repeats = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS, 7, zlib.Z_FILTERED)
    ways = [zlib.compress(content, 9), fewer_repeats.compress(content) + fewer_repeats.flush()]
    return _written(min(ways, key=len))


def _written(compressed: bytes) -> str:
    return base64.b85encode(compressed).decode("ascii").translate(_SAFE)
