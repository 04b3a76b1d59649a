"""Entries of the option `inputs` as trees: of which values they are made, and the same tree with one entry changed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch
import yaml
from torch import Tensor

from modeldiagrams.options.reading import yaml_line

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "LESS",
    "OBJECT",
    "Entries",
    "Leaf",
    "Path",
    "entry_of",
    "factored",
    "instances_in",
    "is_plain",
    "is_repeated",
    "leaves",
    "put",
    "put_all",
    "subtree",
]

T = TypeVar("T")
Path = tuple[str | int, ...]
Entries = dict[str | int, Any]
"""Input, by name or by place → its entry."""
LESS = 30
"""Sides that are made smaller have this size and that of their dimension."""
OBJECT = {"_target_": "types.SimpleNamespace"}
"""An object whose attributes are the other keys."""


@dataclass(frozen=True)
class Leaf:
    """One tensor of the inputs."""

    path: Path
    shape: tuple[int, ...]
    dtype: str = "float32"
    high: int | None = None
    low: int | None = None

    @property
    def entry(self) -> Any:
        """As the option has it."""
        if self.dtype == "float32" and self.shape:
            return [*self.shape]
        if self.dtype == "bool":
            return {"shape": [*self.shape], "dtype": "bool", "low": 1, "high": 2}
        limits = {key: value for key, value in (("low", self.low), ("high", self.high)) if value is not None}
        return {"shape": [*self.shape], "dtype": self.dtype, **limits}

    def sized(self, dimension: int, size: int) -> Leaf:
        """The same with another size of one dimension."""
        return replace(self, shape=(*self.shape[:dimension], size, *self.shape[dimension + 1 :]))


def leaves(entry: Any, path: Path = ()) -> Iterator[Leaf]:
    """The tensors of an entry."""
    match entry:
        case {"value": _}:
            return
        case {"shape": shape}:
            yield Leaf(path, tuple(shape), entry.get("dtype", "float32"), entry.get("high"), entry.get("low"))
        case dict():
            for key, item in entry.items():
                if key != "_target_":
                    yield from leaves(item, (*path, key))
        case [int(), *_]:
            yield Leaf(path, tuple(entry))
        case list():
            for index, item in enumerate(entry):
                yield from leaves(item, (*path, index))


def put(entry: Any, path: Path, new: Any) -> Any:
    """The same tree with another entry at one place."""
    if not path:
        return new
    if isinstance(entry, list):
        return [put(item, path[1:], new) if index == path[0] else item for index, item in enumerate(entry)]
    return {**entry, path[0]: put(entry.get(path[0]), path[1:], new)}


def put_all(entry: Any, path: Path, new: Any) -> Any:
    """The same tree with another entry at one place, and at those beside it in lists of equal entries."""
    for length in range(len(path) - 1, 0, -1):
        beside = subtree(entry, path[:length])
        if is_repeated(beside):
            return put(entry, path[:length], [put_all(beside[0], path[length + 1 :], new)] * len(beside))
    return put(entry, path, new)


def is_repeated(entry: Any) -> bool:
    """Whether it is a list of equal entries, such as pictures of a batch."""
    return (
        isinstance(entry, list) and len(entry) > 1 and not isinstance(entry[0], int) and entry == entry[:1] * len(entry)
    )


def is_shape_alone(entry: Any) -> bool:
    """Whether an entry says nothing of a tensor but its shape."""
    return entry.keys() == {"shape"} if isinstance(entry, dict) else all(isinstance(size, int) for size in entry)


def instances_in(value: Any, type_: type[T]) -> Iterator[T]:
    """What is of a type in arguments or results: cheaper than a general walk, for every call of a pass."""
    if isinstance(value, type_):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from instances_in(item, type_)
    elif isinstance(value, dict):
        yield from instances_in([*value.values()], type_)


def subtree(entry: Any, path: Path) -> Any:
    """The entry at one place."""
    for key in path:
        entry = entry[key]
    return entry


def factored(size: int, parts: int) -> Iterator[tuple[int, ...]]:
    """A size as a product: of image sides, with channels before them, or with one dimension for all."""
    if parts >= 2:  # noqa: PLR2004
        for channels in (1, 3, 4, 16, 32, 64):
            side = math.isqrt(size // channels)
            if channels * side * side == size and (parts > 2 or channels == 1):  # noqa: PLR2004
                yield (*(1,) * (parts - 3), *((channels,) if parts > 2 else ()), side, side)  # noqa: PLR2004
    yield (*(1,) * (parts - 1), size)
    yield (size, *(1,) * (parts - 1))


def entry_of(value: Any) -> Any:
    """An entry of the option `inputs` that makes a value like this one.

    Args:
        value: Tensors and plain values, nested in lists, tuples and dicts to any depth.

    Returns:
        The entry. Shapes, dtypes and the range of whole numbers are kept, random numbers are not. What can't be written
        stays in it as it is, see `is_plain`.
    """
    match value:
        case Tensor() if not value.is_nested and value.layout is torch.strided:
            return _tensor(value)
        case list() | tuple() if value:
            return [entry_of(item) for item in value]
        case dict() if (
            value and "shape" not in value and value.keys() != {"value"}
        ):  # these would be read as one tensor
            return {key: entry_of(item) for key, item in value.items()}
    return {"value": value}


def is_plain(entry: Any) -> bool:
    """Whether an entry can be written down: no objects, no sparse tensors in it."""
    try:
        yaml_line(entry)
    except yaml.YAMLError:
        return False
    return True


def _tensor(value: Tensor) -> Any:
    shape, dtype = list(value.shape), str(value.dtype).removeprefix("torch.")
    if value.is_floating_point() or value.is_complex():
        return shape if dtype == "float32" and shape else {"shape": shape, "dtype": dtype}
    if not value.numel() or value.is_meta:
        return {"shape": shape, "dtype": dtype}
    whole = value.to(torch.int64)
    return {"shape": shape, "dtype": dtype, "low": int(whole.min()), "high": int(whole.max()) + 1}
