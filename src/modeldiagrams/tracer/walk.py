"""Finding tensors in nested Python values."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["closed_over", "exchange", "find_tensors", "flatten", "substitute", "tensors_in"]

_MAX_DEPTH = 8
"""Of objects in objects; eight lists or dicts count as one."""
_MAX_ITEMS = 4096
_SEQUENCES = (list, tuple)
_CHANGEABLE = (list, tuple, deque, MutableMapping)
_ATOMS = frozenset({str, int, float, bool, type(None)})
_PLAIN_CONTAINERS = frozenset({list, tuple, dict})
_PLAIN = (str, bytes, int, float, complex, bool, type(None), torch.dtype, torch.device, torch.layout, type, nn.Module)


def find_tensors(
    value: Any,
    name: str = "",
    *,
    into_objects: bool = False,
    private: bool = True,
    entered: dict[int, Any] | None = None,
) -> list[tuple[str, Tensor]]:
    """All tensors in a nested value with their places, in order.

    Args:
        value: Anything; lists, tuples, mappings and dataclasses are entered, at most 64 lists and dicts deep.
        name: Place of the value itself.
        into_objects: Whether attributes of other objects (caches, outputs of unknown classes) are entered too.
        private: Whether attributes are entered whose names begin with an underscore.
        entered: Containers by id that were searched before and are not searched again; new ones are added.

    Returns:
        Pairs such as ``("batch.mask", tensor)`` or ``("[0]", tensor)``; no place twice.
    """
    found: list[tuple[str, Tensor]] = []
    entered = {} if entered is None else entered
    stack: list[tuple[str, Any, float]] = [(name, value, 0)]
    while stack:
        place, item, depth = stack.pop()
        kind = type(item)  # not `isinstance`, which asks the object: some classes make that slow
        if kind in _ATOMS or id(item) in entered:
            continue
        if issubclass(kind, Tensor):
            found.append((place, item))
        elif depth < _MAX_DEPTH and not issubclass(kind, _PLAIN):
            entered[id(item)] = item  # kept alive, so that ids stay unique during the walk
            inner = _parts(item, place, into_objects=into_objects, private=private)
            deeper = depth + (1 / 8 if kind in _PLAIN_CONTAINERS else 1)
            stack.extend((p, v, deeper) for p, v in reversed(inner))
    return _with_unique_places(found)


def _parts(item: Any, place: str, *, into_objects: bool, private: bool) -> list[tuple[str, Any]]:
    if type(item) in (tuple, list):  # most
        return [(f"{place}[{i}]", value) for i, value in enumerate(item[:_MAX_ITEMS])]
    try:
        return list(_children(item, place, into_objects=into_objects, private=private))
    except Exception:  # noqa: BLE001 - a container of the user's own that can't be read is left closed
        return []


def _with_unique_places(found: list[tuple[str, Tensor]]) -> list[tuple[str, Tensor]]:
    """Keys such as ``1`` and ``"1"`` read alike: number the later ones."""
    if len(found) < 2 or len({place for place, _ in found}) == len(found):  # noqa: PLR2004 - nothing to tell apart
        return found
    counts: dict[str, int] = {}
    unique = []
    for place, tensor in found:
        n = counts[place] = counts.get(place, 0) + 1
        unique.append((place if n == 1 else f"{place}#{n}", tensor))
    return unique


def _children(item: Any, place: str, *, into_objects: bool, private: bool) -> Iterator[tuple[str, Any]]:
    """The parts of one container with their places."""
    if isinstance(item, list | tuple | deque):
        names = getattr(item, "_fields", None) or (hasattr(item, "n_fields") and getattr(item, "__match_args__", None))
        for i, value in enumerate(itertools.islice(item, _MAX_ITEMS)):
            yield (_joined(place, names[i]) if names else f"{place}[{i}]"), value
    elif isinstance(item, Mapping):
        for key, value in itertools.islice(item.items(), _MAX_ITEMS):
            yield _joined(place, str(key)), value
    elif isinstance(item, slice):
        yield from ((_joined(place, part), getattr(item, part)) for part in ("start", "stop", "step"))
    else:
        for name, value in itertools.islice(_attributes(item, into_objects=into_objects), _MAX_ITEMS):
            if private or not name.startswith("_"):
                yield _joined(place, name), value


def _attributes(item: Any, *, into_objects: bool) -> Iterator[tuple[str, Any]]:
    """Fields of a dataclass; attributes of another object, in its ``__dict__`` or its slots."""
    held = getattr(item, "__dict__", {})  # some classes make every getattr slow
    if dataclasses.is_dataclass(item):
        for field in dataclasses.fields(item):
            yield field.name, held[field.name] if field.name in held else getattr(item, field.name, None)
    elif into_objects and not callable(item):
        yield from list(held.items())
        for class_ in type(item).__mro__:
            slots = class_.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if name not in ("__dict__", "__weakref__"):
                    yield name, getattr(item, name, None)


def flatten(value: Any, place: str, found: list[tuple[str, Tensor]], depth: int = 0) -> None:
    """Collect the tensors among an op's arguments or results, in the same order as `outline`."""
    if isinstance(value, Tensor):
        found.append((place, value))
    elif depth >= _MAX_DEPTH:
        return
    elif isinstance(value, _SEQUENCES):
        for i, item in enumerate(value):
            flatten(item, f"{place}[{i}]", found, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            flatten(item, _joined(place, str(key)), found, depth + 1)
    elif isinstance(value, slice):
        flatten([value.start, value.stop, value.step], place, found, depth)
    else:
        found += [(_joined(place, name), tensor) for name, tensor in closed_over(value, depth)]


def closed_over(value: Any, depth: int = 0) -> list[tuple[str, Tensor]]:
    """The tensors that a function uses of those around it, with their names: the body of a `while_loop` does."""
    if not isinstance(value, FunctionType) or not value.__closure__ or depth >= _MAX_DEPTH:
        return []
    found: list[tuple[str, Tensor]] = []
    for name, cell in zip(value.__code__.co_freevars, value.__closure__, strict=True):
        try:
            held = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
        found += [(name, held)] if isinstance(held, Tensor) else closed_over(held, depth + 1)
    return found


def tensors_in(value: Any) -> list[Tensor]:
    """The same without places."""
    if isinstance(value, Tensor):
        return [value]
    if value is None:
        return []
    found: list[tuple[str, Tensor]] = []
    flatten(value, "", found)
    return [tensor for _, tensor in found]


def substitute(value: Any, replace: Callable[[Tensor], Tensor]) -> Any:
    """A copy of nested arguments with their tensors replaced; containers of unknown classes are left as they are."""
    if isinstance(value, Tensor):
        return replace(value)
    if type(value) is list:
        return [substitute(item, replace) for item in value]
    if isinstance(value, tuple):
        items = [substitute(item, replace) for item in value]
        if hasattr(value, "_make"):
            return value._make(items)
        return type(value)(items)
    if type(value) is dict:
        return {key: substitute(item, replace) for key, item in value.items()}
    return value


def exchange(value: Any, replace: Callable[[Tensor], Tensor], entered: dict[int, tuple[Any, Any]] | None = None) -> Any:
    """Replace the tensors in a nested result, in the very same containers, which others may hold, too.

    Args:
        value: Anything. Tuples that change are made anew; what can't be changed is left as it is.
        replace: Gives the tensor to put in place of one.
        entered: Containers by id that were met before, and what became of them.
    """
    if isinstance(value, Tensor):
        return replace(value)
    entered = {} if entered is None else entered
    if id(value) in entered:
        return entered[id(value)][1]
    if not (isinstance(value, _CHANGEABLE) or dataclasses.is_dataclass(value)):
        return value
    entered[id(value)] = (value, value)
    with contextlib.suppress(Exception):  # a container of the user's own
        entered[id(value)] = (value, _exchanged(value, lambda item: exchange(item, replace, entered)))
    return entered[id(value)][1]


def _exchanged(value: Any, renew: Callable[[Any], Any]) -> Any:
    """The container, or a tuple in its place, with what becomes of its items."""
    if isinstance(value, tuple):
        items = [renew(item) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    put: Callable[[Any, Any], None] = functools.partial(object.__setattr__, value)  # a dataclass's, frozen or not
    places: Iterable[tuple[Any, Any]]
    if isinstance(value, MutableMapping):
        put, places = value.__setitem__, value.items()
    elif isinstance(value, list | deque):
        put, places = value.__setitem__, enumerate(value)
    else:
        places = _attributes(value, into_objects=False)
    for place, item in list(places):
        new = renew(item)
        if new is not item:
            put(place, new)
    return value


def _joined(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key
