"""Sizes that names tell of inputs with which a model already runs.

What two inputs are joined to may be split between them in any way that adds up, and a product with a matrix leaves its
rows open: only names tell which way was meant. ``act`` is as wide as the argument ``act_dim``, and an adjacency is
square.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from modeldiagrams.resolve.names.constructor_sizes import constructor_numbers
from modeldiagrams.resolve.names.roles import role_of
from modeldiagrams.resolve.values.entries import leaves, put_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.resolve.values.entries import Entries, Leaf, Path

__all__ = ["NAMED", "as_named", "with_named_sizes"]

NAMED = "sizes that its name tells, and arguments of the constructor"
"""Why inputs are what they are."""

_WIDTH = re.compile(r"(?P<word>[a-z]+?)s?_?(dims?|size|width|features?)")
_LENGTH = re.compile(r"(seq|sequence|context|input|window|history|lookback)_?(len|length|size|steps|window)|lookback")
_SERIES_RANK = 3
_SQUARE = 2
_IMAGE_RANK = 4
_LEAST_WORD = 3
_MOST_PASSES = 4


def as_named(entries: Entries, works: Callable[[Entries], bool]) -> Entries:
    """The same with sizes that names ask for, if a model runs with them.

    Args:
        entries: With which it runs.
        works: Runs it with others.
    """
    return next(filter(works, itertools.islice(with_named_sizes(entries), _MOST_PASSES)), entries)


def with_named_sizes(entries: Entries) -> Iterator[Entries]:
    """The same with sizes that names ask for, likeliest first; nothing where they have them already."""
    yield from _squares(entries)
    yield from _widths(entries)
    yield from _lengths(entries)


def _squares(entries: Entries) -> Iterator[Entries]:
    for leaf in leaves(entries):
        role = role_of(_name(leaf.path))
        if role and role.name == "adjacency" and len(leaf.shape) >= _SQUARE and leaf.dtype == "float32":
            rows, columns = leaf.shape[-2:]
            if rows != columns:
                yield _everywhere(entries, columns, rows)
                yield _everywhere(entries, rows, columns)


def _everywhere(entries: Entries, old: int, new: int) -> Entries:
    for leaf in [*leaves(entries)]:
        sizes = tuple(new if size == old else size for size in leaf.shape)
        entries = put_all(entries, leaf.path, replace(leaf, shape=sizes).entry)
    return entries


def _widths(entries: Entries) -> Iterator[Entries]:
    """Widths by the arguments of the constructor; what one input gains, another one may lose."""
    rows = [leaf for leaf in leaves(entries) if leaf.dtype == "float32" and 1 < len(leaf.shape) < _IMAGE_RANK]
    named = {leaf.path: width for leaf in rows if (width := _argument_width(leaf)) and width not in leaf.shape}
    if not named:
        return
    changed, more = entries, 0
    for leaf in rows:
        if leaf.path in named:
            changed = _with_width(changed, leaf, named[leaf.path])
            more += named[leaf.path] - leaf.shape[-1]
    yield changed
    others = [
        leaf for leaf in rows if leaf.path not in named and leaf.shape[-1] - more in constructor_numbers().values()
    ]
    for leaf in others if more else ():
        yield _with_width(changed, leaf, leaf.shape[-1] - more)


def _lengths(entries: Entries) -> Iterator[Entries]:
    """Lengths of series by the argument that says it: ``seq_len``, where some other length was found."""
    numbers = constructor_numbers()
    length = next((number for name, number in numbers.items() if _LENGTH.fullmatch(name.lower())), 0)
    series = [leaf for leaf in leaves(entries) if leaf.dtype == "float32" and len(leaf.shape) == _SERIES_RANK]
    if not length or any(length in leaf.shape for leaf in leaves(entries)):
        return
    open_ = {size: None for leaf in series for size in leaf.shape[1:] if size > 1 and size not in numbers.values()}
    for size in open_:
        if all(leaf.shape.count(size) < _SQUARE for leaf in series):
            yield _everywhere(entries, size, length)


def _with_width(entries: Entries, leaf: Leaf, width: int) -> Entries:
    changed: Entries = put_all(entries, leaf.path, leaf.sized(len(leaf.shape) - 1, width).entry)
    return changed


def _argument_width(leaf: Leaf) -> int | None:
    """The argument that goes by the name of an input: ``obs_dim`` of ``obs`` and ``observation``."""
    name = _name(leaf.path).lower()
    first = name.partition("_")[0]
    for argument, number in constructor_numbers().items():
        match = _WIDTH.fullmatch(argument.lower())
        word = match["word"] if match else ""
        if word and (
            word.rstrip("s") in (name.rstrip("s"), first) or (len(word) >= _LEAST_WORD and name.startswith(word))
        ):
            return number
    return None


def _name(path: Path) -> str:
    return next((key for key in reversed(path) if isinstance(key, str)), "")
