"""Finds characters of a picture that no font of this machine has."""

from __future__ import annotations

import html
import re
import struct
import unicodedata
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["describe_missing", "find_missing"]

_FOREIGN = re.compile(r'<text [^>]*font-family="sans-serif"[^>]*>(.*?)</text>')
"""Text with characters that our font lacks."""
_TAG = re.compile(r"<[^>]*>")

_CELL = 24
"""Pixels of a side of a character."""
_MOST = 400
"""Most characters that are looked at."""
_UNASSIGNED = "\U0010fffd"
"""No font has it."""
_NAMED = 12

_BYTES_PER_PIXEL = 4


def find_missing(svg: str, pixels: Callable[[str, int], bytes]) -> str:
    """Find the characters that a library draws as it draws one that no font has.

    Args:
        svg: A flat picture.
        pixels: Converts an SVG to a PNG file of a width.
    """
    text = html.unescape(_TAG.sub("", "".join(_FOREIGN.findall(svg))))
    chars = sorted(char for char in set(text) if not char.isascii() and _has_glyph(char))[:_MOST]
    if not chars:
        return ""
    drawn = _draw_cells([_UNASSIGNED, *chars], pixels)
    return "".join(char for char, cell in zip(chars, drawn[1:], strict=True) if cell == drawn[0])


def _has_glyph(char: str) -> bool:
    """Whether it is more than a mark, a space, or a sign of direction."""
    category = unicodedata.category(char)
    return category[0] not in "MZ" and category not in {"Cc", "Cf"}


def describe_missing(chars: str) -> str:
    """Describe missing characters for a warning."""
    named = ", ".join(f"{char} (U+{ord(char):04X})" for char in chars[:_NAMED])
    more = f" and {len(chars) - _NAMED} more" if len(chars) > _NAMED else ""
    return f"no font on this machine has {named}{more}, so the picture shows boxes; install one, such as Noto Sans"


def _draw_cells(chars: list[str], pixels: Callable[[str, int], bytes]) -> list[bytes]:
    """Draw characters side by side, and return the pixels of each."""
    width = _CELL * len(chars)
    texts = "".join(
        f'<text x="{_CELL * i + 4}" y="18" font-size="14" font-family="sans-serif">{char}</text>'
        for i, char in enumerate(chars)
    )
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{_CELL}">{texts}</svg>'
    rows = _read_rows(pixels(svg, width))
    side = _CELL * _BYTES_PER_PIXEL
    return [b"".join(row[i * side : (i + 1) * side] for row in rows) for i in range(len(chars))]


def _read_rows(png: bytes) -> list[bytes]:
    """Read the rows of a PNG file with four bytes a pixel."""
    parts, at = [], 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            parts.append(png[at + 8 : at + 8 + length])
        at += length + 12
    (width,) = struct.unpack(">I", png[16:20])
    data, size = zlib.decompress(b"".join(parts)), width * _BYTES_PER_PIXEL + 1
    rows = [bytes(size - 1)]
    for start in range(0, len(data), size):
        rows.append(_unfilter(data[start], data[start + 1 : start + size], rows[-1]))
    return rows[1:]


def _unfilter(kind: int, row: bytes, above: bytes) -> bytes:
    """Undo the filter of a row, as the PNG specification says."""
    found = bytearray(row)
    for i in range(len(row)):
        left = found[i - _BYTES_PER_PIXEL] if i >= _BYTES_PER_PIXEL else 0
        corner = above[i - _BYTES_PER_PIXEL] if i >= _BYTES_PER_PIXEL else 0
        nearest = min((left, above[i], corner), key=lambda value: abs(left + above[i] - corner - value))
        found[i] = (row[i] + (0, left, above[i], (left + above[i]) // 2, nearest)[kind]) & 0xFF
    return bytes(found)
