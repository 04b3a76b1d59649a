"""Whole numbers in as few bytes as possible: seven bits per byte, the lowest first (LEB128)."""

from __future__ import annotations

__all__ = ["LOW", "MORE", "get_varints", "put_varint"]

LOW = 0x7F
MORE = 0x80


def put_varint(out: bytearray, number: int) -> None:
    """Append a number that isn't negative."""
    while number > LOW:
        out.append(number & LOW | MORE)
        number >>= 7
    out.append(number)


def get_varints(data: bytes) -> list[int]:
    """Read all numbers: most of the time to read a recording is spent here, on histograms."""
    found: list[int] = []
    number = shift = 0
    for byte in data:
        if byte < MORE:
            found.append(number | byte << shift if shift else byte)
            number = shift = 0
        else:
            number |= (byte & LOW) << shift
            shift += 7
    return found
