"""Sample code that tests trace, sample images, and samples of cases."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

PROJECT = Path(__file__).parent / "sample_project"
"""A user's project with a package of small models, `mypkg`."""


def some(cases: Iterable[Any], chosen: Container[Any]) -> list[Any]:
    """Cases as parameters, of several names where they are tuples: some for every run, the others for `make zoo`."""
    return [case if case in chosen else _for_the_zoo(case) for case in cases]


def _for_the_zoo(case: Any) -> Any:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.zoo)


def png(width: int = 24, height: int = 16, *, colour: tuple[int, int, int] = (40, 90, 160)) -> bytes:
    """A PNG file of one colour."""
    rows = (b"\0" + bytes(colour) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
