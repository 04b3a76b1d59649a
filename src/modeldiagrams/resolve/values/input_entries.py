"""Entries of the option `inputs` as trees."""

from __future__ import annotations

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
    "find_instances",
    "get_entry",
    "is_plain",
    "is_repeated",
    "is_shape_alone",
    "list_leaves",
    "put_entry",
    "put_entry_everywhere",
    "write_entry",
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


def list_leaves(entry: Any, path: Path = ()) -> Iterator[Leaf]:
    """The tensors of an entry."""
    match entry:
        case {"value": _}:
            return
        case {"shape": shape}:
            yield Leaf(path, tuple(shape), entry.get("dtype", "float32"), entry.get("high"), entry.get("low"))
        case dict():
            for key, item in entry.items():
                if key != "_target_":
                    yield from list_leaves(item, (*path, key))
        case [int(), *_]:
            yield Leaf(path, tuple(entry))
        case list():
            for index, item in enumerate(entry):
                yield from list_leaves(item, (*path, index))


def put_entry(entry: Any, path: Path, new: Any) -> Any:
    """The tree with another entry at one path."""
    if not path:
        return new
    if isinstance(entry, list):
        return [put_entry(item, path[1:], new) if index == path[0] else item for index, item in enumerate(entry)]
    return {**entry, path[0]: put_entry(entry.get(path[0]), path[1:], new)}


def put_entry_everywhere(entry: Any, path: Path, new: Any) -> Any:
    """The tree with another entry at one path, and in all items of a list of equal entries."""
    for length in range(len(path) - 1, 0, -1):
        items = get_entry(entry, path[:length])
        if is_repeated(items):
            return put_entry(
                entry, path[:length], [put_entry_everywhere(items[0], path[length + 1 :], new)] * len(items)
            )
    return put_entry(entry, path, new)


def is_repeated(entry: Any) -> bool:
    """Whether it is a list of equal entries, such as pictures of a batch."""
    return (
        isinstance(entry, list) and len(entry) > 1 and not isinstance(entry[0], int) and entry == entry[:1] * len(entry)
    )


def is_shape_alone(entry: Any) -> bool:
    """Whether an entry states only the shape of a tensor."""
    return entry.keys() == {"shape"} if isinstance(entry, dict) else all(isinstance(size, int) for size in entry)


def find_instances(value: Any, type_: type[T]) -> Iterator[T]:
    """Instances of a type in arguments or results; faster than a general walk."""
    if isinstance(value, type_):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from find_instances(item, type_)
    elif isinstance(value, dict):
        yield from find_instances([*value.values()], type_)


def get_entry(entry: Any, path: Path) -> Any:
    """The entry at one path."""
    for key in path:
        entry = entry[key]
    return entry


def write_entry(value: Any) -> Any:
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
            return [write_entry(item) for item in value]
        case dict() if (
            value and "shape" not in value and value.keys() != {"value"}
        ):  # these would be read as one tensor
            return {key: write_entry(item) for key, item in value.items()}
    return {"value": value}


def is_plain(entry: Any) -> bool:
    """Whether an entry can be written as YAML."""
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
