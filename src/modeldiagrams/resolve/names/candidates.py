"""What one input of a model could be: candidates, as an author would write them.

Every candidate is an entry of the option `inputs`, so whatever works can be pasted into the documentation. A shape may
name a size instead of a number, and all inputs share it: an image and its mask grow together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

__all__ = ["ABSENT", "SIZES", "Candidate", "element_count", "ids", "named_sizes", "ones", "resolved"]

SIZES: dict[str, tuple[int, ...]] = {
    "<size>": (32, 64, 28, 128, 224, 16, 96, 84, 256, 299, 8, 512),
    "<frames>": (8, 16, 4, 2),
    "<length>": (16, 8, 32, 64, 128, 10, 20, 100, 1024, 4000, 16000),
}
"""Named sizes and their candidates: the most usual small one first."""


@dataclass(frozen=True)
class Candidate:
    """One possible value of an input."""

    entry: Any
    """An entry of the option `inputs` whose sizes may be keys of `SIZES`."""
    reason: str


ABSENT = Candidate(None, "it is optional")
"""Leaves the input out."""


def ids(shape: list[Any], high: int) -> dict[str, Any]:
    """Whole numbers from 0 up to, not including, `high`."""
    return {"shape": shape, "dtype": "int64", "high": high}


def ones(shape: list[Any], dtype: str = "int64") -> dict[str, Any]:
    """A mask that hides nothing."""
    return {"shape": shape, "dtype": dtype, "low": 1, "high": 2}


def resolved(entry: Any, sizes: dict[str, int]) -> Any:
    """The entry with numbers in place of named sizes."""
    match entry:
        case str():
            return sizes.get(entry, entry)
        case list():
            return [resolved(item, sizes) for item in entry]
        case dict() if "value" not in entry:
            return {key: resolved(item, sizes) for key, item in entry.items()}
    return entry


def element_count(entry: Any) -> int:
    """Number of elements of the tensors that a resolved entry describes."""
    match entry:
        case [int(), *_]:
            return math.prod(entry)
        case {"value": _}:
            return 0
        case {"shape": [*shape]}:
            return math.prod(shape)
        case list():
            return sum(map(element_count, entry))
        case dict():
            return sum(map(element_count, entry.values()))
    return 0


def named_sizes(entry: Any) -> set[str]:
    """The sizes that an entry names."""
    match entry:
        case str():
            return {entry} & SIZES.keys()
        case list():
            return set().union(*map(named_sizes, entry))
        case dict():
            return set().union(*map(named_sizes, entry.values()))
    return set()
