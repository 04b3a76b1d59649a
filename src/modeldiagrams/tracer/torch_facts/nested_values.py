"""Finds and replaces tensors in nested Python values.

`fake` replaces tensors in arguments with `torch.utils._pytree`. That can't name positions of tensors as graphs show
them, enter objects, closures and values that contain themselves, or replace tensors in place.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
from collections import deque
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, MutableMapping, ValuesView
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from modeldiagrams.common.class_facts import list_bases
from modeldiagrams.ir.ids import make_unique
from modeldiagrams.tracer.torch_facts.private_api import PLAIN_TENSORS

_MAX_DEPTH = 8
"""Deepest object in objects; eight lists or dicts count as one object."""
_MAX_ITEMS = 4096
_SEQUENCES = (list, tuple)
_CHANGEABLE = (list, tuple, deque, MutableMapping)
_ATOMS = frozenset({str, int, float, bool, type(None)})
_PLAIN_CONTAINERS = frozenset({list, tuple, dict})
_NO_DATA = (FunctionType, MethodType, BuiltinFunctionType, ModuleType)
"""Objects whose attributes say nothing of a call."""
_Chain = tuple[tuple[int, bool], ...]
"""The objects around a value by id, and whether it is in a private attribute of the object."""
_PLAIN = (str, bytes, int, float, complex, bool, type(None), torch.dtype, torch.device, torch.layout, type, nn.Module)


def find_tensors(
    value: Any,
    name: str = "",
    *,
    into_objects: bool = False,
    private: bool = True,
    entered: dict[int, Any] | None = None,
) -> list[tuple[str, Tensor]]:
    """All tensors in a nested value with unique paths, in order: ``("batch.mask", tensor)``, ``("[0]", tensor)``.

    Args:
        value: Anything. Lists, tuples, mappings and dataclasses are entered, up to 64 lists and dicts deep.
        name: Path of the value itself.
        into_objects: Whether to enter attributes of other objects (caches, outputs of unknown classes).
        private: Whether to enter attributes whose names begin with an underscore of objects that have tensors in
            other ones.
        entered: Containers, by id, that were searched before; they are skipped, and new ones are added.
    """
    if entered is None and type(value) in (tuple, list) and PLAIN_TENSORS.issuperset(map(type, value[:_MAX_ITEMS])):
        return [(f"{name}[{i}]", item) for i, item in enumerate(value[:_MAX_ITEMS])]  # the usual case
    found: list[tuple[str, Tensor]] = []
    chains: list[_Chain] = []
    entered = {} if entered is None else entered
    stack: list[tuple[str, Any, float, _Chain]] = [(name, value, 0, ())]
    while stack:
        path, item, depth, chain = stack.pop()
        kind = type(item)  # `isinstance` is slow for classes that override `__class__`
        if kind in _ATOMS or id(item) in entered:
            continue
        is_container = kind in _PLAIN_CONTAINERS
        if not is_container and issubclass(kind, Tensor):
            found.append((path, item))
            chains.append(chain)
        elif depth < _MAX_DEPTH and (is_container or not issubclass(kind, _PLAIN)):
            entered[id(item)] = item  # kept alive to keep its id unique
            inner = _list_items(item, path, chain, into_objects=into_objects)
            deeper = depth + (1 / 8 if is_container else 1)
            stack += [(p, v, deeper, c) for p, v, c in reversed(inner)]
    return number_paths(found if private else _drop_private(found, chains))


def _drop_private(found: list[tuple[str, Tensor]], chains: list[_Chain]) -> list[tuple[str, Tensor]]:
    """Leave out what is in private attributes of objects that have tensors in other attributes."""
    public = {object_ for chain in chains for object_, is_private in chain if not is_private}
    return [
        each
        for each, chain in zip(found, chains, strict=True)
        if not any(is_private and object_ in public for object_, is_private in chain)
    ]


def _list_items(item: Any, path: str, chain: _Chain, *, into_objects: bool) -> list[tuple[str, Any, _Chain]]:
    if type(item) in (tuple, list):  # the usual case
        return [(f"{path}[{i}]", value, chain) for i, value in enumerate(item[:_MAX_ITEMS])]
    try:
        if type(item) is dict:
            items = itertools.islice(item.items(), _MAX_ITEMS)
            return [(_join_path(path, str(key)), value, chain) for key, value in items]
        return list(_yield_items(item, path, chain, into_objects=into_objects))
    except Exception:  # noqa: BLE001 (a user's container that can't be read)
        return []


def number_paths(found: list[tuple[str, Tensor]]) -> list[tuple[str, Tensor]]:
    """Number repeated paths, such as those of the keys ``1`` and ``"1"``."""
    if len(found) < 2 or len({path for path, _ in found}) == len(found):  # noqa: PLR2004 (nothing to compare)
        return found
    unique: dict[str, Tensor] = {}
    for path, tensor in found:
        unique[make_unique(path, unique)] = tensor
    return list(unique.items())


def _yield_items(item: Any, path: str, chain: _Chain, *, into_objects: bool) -> Iterator[tuple[str, Any, _Chain]]:
    """Yield the items of one container with their paths and chains."""
    others: Iterable[tuple[str, Any]] = ()
    if isinstance(item, list | tuple | deque):
        names = getattr(item, "_fields", None) or (hasattr(item, "n_fields") and getattr(item, "__match_args__", None))
        for i, value in enumerate(itertools.islice(item, _MAX_ITEMS)):
            yield (_join_path(path, names[i]) if names else f"{path}[{i}]"), value, chain
    elif isinstance(item, Mapping):
        for key, value in itertools.islice(item.items(), _MAX_ITEMS):
            yield _join_path(path, str(key)), value, chain
    elif isinstance(item, KeysView | ValuesView | ItemsView):
        yield path, list(itertools.islice(item, _MAX_ITEMS)), chain
    else:
        others = _yield_attributes(item, into_objects=into_objects)
    if into_objects and isinstance(item, list | tuple | deque | dict):  # of the user's class, with attributes
        items = {id(value) for value in (item.values() if isinstance(item, dict) else item)}
        others = [each for each in getattr(item, "__dict__", {}).items() if id(each[1]) not in items]
    for name, value in itertools.islice(others, _MAX_ITEMS):
        is_private = name.startswith("_")
        # ``batch._store.x`` is ``batch.x`` for readers
        is_bookkeeping = is_private and into_objects and not issubclass(type(value), Tensor)
        yield path if is_bookkeeping else _join_path(path, name), value, (*chain, (id(item), is_private))


def _yield_attributes(item: Any, *, into_objects: bool) -> Iterator[tuple[str, Any]]:
    """Yield fields of a dataclass, and attributes of other objects in their ``__dict__`` and slots."""
    held = getattr(item, "__dict__", {})  # `getattr` is slow for some classes
    fields = [field.name for field in dataclasses.fields(item)] if dataclasses.is_dataclass(item) else []
    for name in fields:
        yield name, held[name] if name in held else getattr(item, name, None)
    if isinstance(item, functools.partial):
        yield from (("args", item.args), *item.keywords.items())
    elif into_objects and not isinstance(item, _NO_DATA):
        yield from [(name, value) for name, value in held.items() if name not in fields]
        for class_ in list_bases(type(item)):
            slots = class_.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if name not in ("__dict__", "__weakref__", *fields):
                    yield name, getattr(item, name, None)


def collect_tensors(value: Any, path: str, found: list[tuple[str, Tensor]], depth: int = 0) -> None:
    """Collect the tensors among an op's arguments or results, in the order of `call_key`."""
    if isinstance(value, Tensor):
        found.append((path, value))
    elif depth >= _MAX_DEPTH:
        return
    elif isinstance(value, _SEQUENCES):
        for i, item in enumerate(value):
            collect_tensors(item, f"{path}[{i}]", found, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            collect_tensors(item, _join_path(path, str(key)), found, depth + 1)
    elif isinstance(value, slice):
        collect_tensors([value.start, value.stop, value.step], path, found, depth)
    else:
        found += [(_join_path(path, name), tensor) for name, tensor in closure_tensors(value, depth)]


def closure_tensors(value: Any, depth: int = 0) -> list[tuple[str, Tensor]]:
    """The tensors in a function's closure with their names, as used by the body of a `while_loop`."""
    if not isinstance(value, FunctionType) or not value.__closure__ or depth >= _MAX_DEPTH:
        return []
    found: list[tuple[str, Tensor]] = []
    for name, cell in zip(value.__code__.co_freevars, value.__closure__, strict=True):
        try:
            held = cell.cell_contents
        except ValueError:  # unassigned
            continue
        found += [(name, held)] if isinstance(held, Tensor) else closure_tensors(held, depth + 1)
    return found


def tensors_of(value: Any) -> list[Tensor]:
    """The tensors that `collect_tensors` finds, without paths."""
    if isinstance(value, Tensor):
        return [value]
    found: list[tuple[str, Tensor]] = []
    collect_tensors(value, "", found)
    return [tensor for _, tensor in found]


def map_tensors_in_place(
    value: Any, replace: Callable[[Tensor], Tensor], entered: dict[int, tuple[Any, Any]] | None = None
) -> Any:
    """Replace the tensors in a nested result inside its own containers, because the model may hold these.

    A tuple that changes is replaced; a container that can't be changed is left alone. `entered` maps the id of a
    visited container to it and its replacement.
    """
    if isinstance(value, Tensor):
        return replace(value)
    entered = {} if entered is None else entered
    if id(value) in entered:
        return entered[id(value)][1]
    if not (isinstance(value, _CHANGEABLE) or dataclasses.is_dataclass(value)):
        return value
    entered[id(value)] = (value, value)
    with contextlib.suppress(Exception):  # a user's container
        entered[id(value)] = (value, _map_items(value, lambda item: map_tensors_in_place(item, replace, entered)))
    return entered[id(value)][1]


def _map_items(value: Any, renew: Callable[[Any], Any]) -> Any:
    """Replace the items of a container; return it, or a new tuple for a tuple."""
    if isinstance(value, tuple):
        items = [renew(item) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    put: Callable[[Any, Any], None] = functools.partial(object.__setattr__, value)  # also for frozen dataclasses
    items_: Iterable[tuple[Any, Any]]
    if isinstance(value, MutableMapping):
        put, items_ = value.__setitem__, value.items()
    elif isinstance(value, list | deque):
        put, items_ = value.__setitem__, enumerate(value)
    else:
        items_ = _yield_attributes(value, into_objects=False)
    for key, item in list(items_):
        new = renew(item)
        if new is not item:
            put(key, new)
    return value


def _join_path(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
