"""Candidates for one input, and what its name says about it.

Every candidate is an entry of the option `inputs`, so whatever works can be pasted into the documentation. A shape may
name a size instead of a number, and all inputs share it: an image and its mask grow together.
"""

from __future__ import annotations

import functools
import math
import re
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.resolve.names.vocabulary import PROJECT, find_project_value, get_table, matches_any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "ABSENT",
    "SIZES",
    "Candidate",
    "count_elements",
    "fill_sizes",
    "find_named_sizes",
    "find_role",
    "get_constructor_channels",
    "get_constructor_numbers",
    "get_constructor_sides",
    "list_role_candidates",
    "list_sizes",
    "make_ids",
    "make_ones",
    "preferring_sizes",
]

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


def make_ids(shape: list[Any], high: int) -> dict[str, Any]:
    """Whole numbers from 0 up to, not including, `high`."""
    return {"shape": shape, "dtype": "int64", "high": high}


def make_ones(shape: list[Any], dtype: str = "int64") -> dict[str, Any]:
    """A mask that hides nothing."""
    return {"shape": shape, "dtype": dtype, "low": 1, "high": 2}


def fill_sizes(entry: Any, sizes: dict[str, int]) -> Any:
    """The entry with numbers in place of named sizes."""
    match entry:
        case str():
            return sizes.get(entry, entry)
        case list():
            return [fill_sizes(item, sizes) for item in entry]
        case dict() if "value" not in entry:
            return {key: fill_sizes(item, sizes) for key, item in entry.items()}
    return entry


def count_elements(entry: Any) -> int:
    """Number of elements of the tensors that a resolved entry describes."""
    match entry:
        case [int(), *_]:
            return math.prod(entry)
        case {"value": _}:
            return 0
        case {"shape": [*shape]}:
            return math.prod(shape)
        case list():
            return sum(map(count_elements, entry))
        case dict():
            return sum(map(count_elements, entry.values()))
    return 0


def find_named_sizes(entry: Any) -> set[str]:
    """The sizes that an entry names."""
    match entry:
        case str():
            return {entry} & SIZES.keys()
        case list():
            return set().union(*map(find_named_sizes, entry))
        case dict():
            return set().union(*map(find_named_sizes, entry.values()))
    return set()


class Role(msgspec.Struct, frozen=True):
    """A kind of input: a row of the table ``forward_parameters``."""

    name: str = msgspec.field(name="role")
    names: list[str]
    entries: list[Any]
    dimensions: tuple[int, ...] = ()
    is_whole: bool = False

    def suits(self, entry: Any) -> bool:
        """Whether a layer's candidate is of this kind."""
        is_whole = isinstance(entry, dict) and entry.get("dtype") == "int64"
        shape = entry["shape"] if isinstance(entry, dict) else entry
        return is_whole == self.is_whole and len(shape) in self.dimensions


@functools.cache
def _roles() -> list[Role]:
    return [msgspec.convert(row, decodable(Role)) for row in get_table("forward_parameters")]


def find_role(name: str) -> Role | None:
    """The role of a parameter by its name."""
    known = find_project_value("inputs", name)
    if known is not None:
        return Role(name=PROJECT, names=[], entries=[known])
    return next((role for role in _roles() if matches_any(role.names, name.lower())), None)


def list_role_candidates(role: Role | None) -> Iterator[Candidate]:
    """Candidates of a role that do not depend on the layers."""
    if role is None:
        return
    reason = PROJECT if role.name == PROJECT else f"its name tells that it is of the kind {role.name!r}"
    yield from (Candidate(entry, reason) for entry in role.entries)


_SIDE = re.compile(
    r"(image|img|input|crop|frame|pixel|spatial)s?_?(size|resolution|shape|height|width)s?|resolution|in_shape"
)
_FRAMES = re.compile(r"((num|n|max)_?)?frames")
_CHANNELS = re.compile(r"((in|input|image|img|num|n)_?)?(channels|chans)|in_(c|ch)")
_HEIGHT = re.compile(r"((image|img|input|crop|frame|screen)_?)?(height|h)")
_LEAST, _MOST = 8, 2048
_SIZES: ContextVar[tuple[tuple[str, tuple[int, ...]], ...]] = ContextVar("_SIZES", default=())
"""Named sizes and their values: two for a height and a width."""
_NUMBERS: ContextVar[dict[str, int]] = ContextVar("_NUMBERS", default={})  # noqa: B039  (it is never written)


@contextmanager
def preferring_sizes(arguments: Any) -> Iterator[None]:
    """Let the sizes among the arguments of a constructor come first.

    Args:
        arguments: As the option `kwargs`, or values of defaults.
    """
    items = arguments.items() if isinstance(arguments, dict) else ()
    numbers = _NUMBERS.set({str(name): value for name, value in items if type(value) is int})
    token = _SIZES.set(tuple(dict.fromkeys(_sizes(arguments))))
    try:
        yield
    finally:
        _SIZES.reset(token)
        _NUMBERS.reset(numbers)


def get_constructor_numbers() -> dict[str, int]:
    """Arguments that are whole numbers, by name."""
    return _NUMBERS.get()


def get_constructor_sides() -> list[tuple[int, int]]:
    """Height and width of images."""
    return [(sizes[-2], sizes[-1]) for name, sizes in _SIZES.get() if name == "<size>"]


def get_constructor_channels() -> set[int]:
    """How many channels inputs have."""
    return {sizes[0] for name, sizes in _SIZES.get() if name == "channels"}


def list_sizes(size: str) -> tuple[int, ...]:
    """Candidates of a named size."""
    values = [sizes[0] for name, sizes in _SIZES.get() if name == size and len({*sizes}) == 1]
    return tuple(dict.fromkeys([*values, *SIZES[size]]))


def _sizes(arguments: Any) -> Iterator[tuple[str, tuple[int, ...]]]:
    if isinstance(arguments, dict):
        yield from _heights_and_widths(arguments)
    for name, value in arguments.items() if isinstance(arguments, dict) else ():
        if _SIDE.fullmatch(str(name).lower()):
            yield from _sides(value)
        elif _FRAMES.fullmatch(str(name).lower()) and type(value) is int:
            yield "<frames>", (value,)
        elif _CHANNELS.fullmatch(str(name).lower()) and type(value) is int:
            yield "channels", (value,)
        else:
            yield from _sizes(value)


def _heights_and_widths(arguments: dict[Any, Any]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Of images whose sides are two arguments."""
    for name, height in arguments.items():
        if _HEIGHT.fullmatch(str(name).lower()):
            width = re.sub("h(eight)?$", lambda end: "width" if end[1] else "w", str(name))
            yield from _sides([height, arguments.get(width)])


def _sides(value: Any) -> Iterator[tuple[str, tuple[int, ...]]]:
    match value:
        case int() as side if _LEAST <= side <= _MOST:
            yield "<size>", (side, side)
        case [*_, int() as height, int() as width] if _LEAST <= min(height, width) <= max(height, width) <= _MOST:
            yield "<size>", (height, width)
        case {"_args_": [[*sizes]]}:
            yield from _sides(sizes)
