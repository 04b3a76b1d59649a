"""Sizes of inputs among a constructor's arguments: sides, channels and frames of images."""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.names.candidates import SIZES

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["constructor_channels", "constructor_numbers", "constructor_sides", "preferring_sizes", "values_of"]

_SIDE = re.compile(
    r"(image|img|input|crop|frame|pixel|spatial)s?_?(size|resolution|shape|height|width)s?|resolution|in_shape"
)
_FRAMES = re.compile(r"((num|n|max)_?)?frames")
_CHANNELS = re.compile(r"((in|input|image|img|num|n)_?)?(channels|chans)|in_(c|ch)")
_HEIGHT = re.compile(r"((image|img|input|crop|frame|screen)_?)?(height|h)")
_LEAST, _MOST = 8, 2048
_SIZES: ContextVar[tuple[tuple[str, tuple[int, ...]], ...]] = ContextVar("_SIZES", default=())
"""Named sizes and their values: two for a height and a width."""
_NUMBERS: ContextVar[dict[str, int]] = ContextVar("_NUMBERS", default={})  # noqa: B039  (nobody writes it)


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


def constructor_numbers() -> dict[str, int]:
    """Arguments that are whole numbers, by name."""
    return _NUMBERS.get()


def constructor_sides() -> list[tuple[int, int]]:
    """Height and width of images."""
    return [(sizes[-2], sizes[-1]) for name, sizes in _SIZES.get() if name == "<size>"]


def constructor_channels() -> set[int]:
    """How many channels inputs have."""
    return {sizes[0] for name, sizes in _SIZES.get() if name == "channels"}


def values_of(size: str) -> tuple[int, ...]:
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
