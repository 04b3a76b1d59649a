"""Texts as pages carry them: compressed, in characters that no HTML parser, plugin, template or encoding changes."""

from __future__ import annotations

import base64
import zlib

__all__ = ["packed"]

_SAFE = str.maketrans("&<>`{}", ",./:[]")
"""Characters of base 85 that mean something elsewhere."""


def packed(content: bytes) -> str:
    """Compressed, and five characters for four bytes; `viewer/src/shared/unpack.ts` reads it."""
    return base64.b85encode(zlib.compress(content, 9)).decode("ascii").translate(_SAFE)
