"""Texts as pages carry them: compressed, and in characters that no HTML parser, plugin or encoding changes."""

from __future__ import annotations

import base64
import zlib

__all__ = ["packed"]


def packed(content: bytes) -> str:
    """Compressed, as base64; `viewer/src/shared/unpack.ts` reads it."""
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")
