"""Whole numbers in as few bytes as possible: seven bits per byte, the lowest first (LEB128)."""

from __future__ import annotations

__all__ = ["get_varint", "get_varints", "put_varint"]

_LOW = 0x7F
_MORE = 0x80


def put_varint(out: bytearray, number: int) -> None:
    """Append a number that isn't negative."""
    while number > _LOW:
        out.append(number & _LOW | _MORE)
        number >>= 7
    out.append(number)


def get_varint(data: bytes, at: int) -> tuple[int, int]:
    """Read the number at a position; return it and the position after it."""
    byte = data[at]
    at += 1
    number, shift = byte & _LOW, 7
    while byte >= _MORE:
        byte = data[at]
        at += 1
        number |= (byte & _LOW) << shift
        shift += 7
    return number, at


def get_varints(data: bytes) -> list[int]:
    """Read all numbers: most of the time to read a recording is spent here, on histograms."""
    found: list[int] = []
    number = shift = 0
    for byte in data:
        if byte < _MORE:
            found.append(number | byte << shift if shift else byte)
            number = shift = 0
        else:
            number |= (byte & _LOW) << shift
            shift += 7
    return found
