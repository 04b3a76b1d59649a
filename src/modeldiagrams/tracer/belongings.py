"""What a model holds besides modules and tensors: containers, objects, generators of random numbers, functions."""

from __future__ import annotations

import copy
import functools
import itertools
import operator
import random
import re
import sys
from collections import OrderedDict, deque
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = [
    "ATOMS",
    "KINDS",
    "MAX_DEPTH",
    "MAX_ITEMS",
    "Belongings",
    "is_looked_into",
    "put_contents",
    "same",
    "stand_in",
]

ATOMS = frozenset({str, int, float, bool, type(None), torch.dtype, torch.device})
"""Kinds of values that cannot change."""
_LIBRARIES = frozenset({"torch", "numpy", *sys.stdlib_module_names})
_STATEFUL = ("collections", "torch.amp.", "torch.optim.", "types", "weakref")
"""Libraries' modules whose objects are looked into all the same: optimizers, `types.SimpleNamespace`, `UserDict`."""
KINDS: tuple[Any, ...] = (OrderedDict, dict, list, set, deque, bytearray)
"""Kinds of containers that can change."""
_ITERATORS = frozenset(map(type, (iter([]), iter(()), iter(range(0)), itertools.count())))
MAX_DEPTH = 6
"""How deep containers are nested in each other at most."""
MAX_ITEMS = 4096
"""How many things in a container are looked into."""
_MAX_ENTERED = 1 << 15
"""A model may hold its training data."""
_MAX_BYTES = 1 << 20
"""Of an array that is copied."""
_FUNCTIONS = (FunctionType, MethodType, functools.partial)
_NOTHING: Any = object()
_COUNT = re.compile(r"count\((-?\d+)(?:, (-?\d+))?\)")


class Belongings:
    """Remembers what is in containers and objects, as deep as they are nested, and puts it back. Copies no tensors."""

    def __init__(self) -> None:
        """Start with nothing remembered."""
        self.tensors: list[Tensor] = []
        """Those found; for others to remember."""
        self.modules: list[nn.Module] = []
        """The same."""
        self.iterators: list[Any] = []
        """Those found whose place cannot be set back, only another be put in their place."""
        self.dicts: list[tuple[dict[Any, Any], dict[Any, Any]]] = []
        """Dicts and copies of them."""
        self._entered: dict[int, Any] = {}
        self._undo: list[tuple[Callable[[Any, Any], Any], Any, Any]] = []

    def add(self, value: Any, depth: int = 0) -> None:
        """Remember a value and what is in it."""
        kind = type(value)
        if id(value) in self._entered or (kind is tuple and ATOMS.issuperset(map(type, value))):
            return
        if len(self._entered) > _MAX_ENTERED:
            return
        self._entered[id(value)] = value  # kept alive, so that ids stay unique
        if issubclass(kind, Tensor):
            self.tensors.append(value)
        elif issubclass(kind, nn.Module):
            self.modules.append(value)
        elif issubclass(kind, KINDS):
            self._add_container(value, depth)
        elif issubclass(kind, tuple | frozenset):
            self._add_items(value, depth)
        elif issubclass(kind, _FUNCTIONS):
            self._add_function(value, depth)
        else:
            self._add_other(value, depth)

    def restore(self) -> None:
        """Put everything back."""
        put_dicts(self.dicts)
        for write, value, content in self._undo:
            write(value, content)

    def _add_container(self, value: Any, depth: int) -> None:
        kind = type(value)
        if kind is dict or kind is OrderedDict:
            self.dicts.append((value, value.copy()))
        else:
            self._undo.append((put_contents, value, _contents(value)))
        if kind is not bytearray:
            self._add_items(value.values() if issubclass(kind, dict) else value, depth)
        if kind not in KINDS:
            self._add_object(value, depth)

    def _add_items(self, items: Iterable[Any], depth: int) -> None:
        if depth < MAX_DEPTH:
            for item in [item for item in itertools.islice(items, MAX_ITEMS) if type(item) not in ATOMS]:
                self.add(item, depth + 1)

    def _add_object(self, value: Any, depth: int) -> None:
        """The attributes of a plain object: a cache, a configuration; none of what torch and Python look after."""
        kind = type(value)
        if issubclass(kind, type | ModuleType) or not is_looked_into(kind.__module__):
            return
        attributes = _or_nothing(object.__getattribute__, value, "__dict__")
        if type(attributes) is dict:
            self.add(attributes, depth)
        slots = [slot for base in kind.__mro__ if "__slots__" in vars(base) for slot in vars(base).values()]
        for slot in slots:
            if type(slot) is MemberDescriptorType:
                self._add_place(slot.__set__, value, _or_nothing(slot.__get__, value), depth)

    def _add_place(self, write: Callable[[Any, Any], Any], place: Any, held: Any, depth: int) -> None:
        """A slot or a cell and what it holds; an empty one is left alone."""
        if held is not _NOTHING:
            self._undo.append((write, place, held))
            self.add(held, depth + 1)

    def _add_other(self, value: Any, depth: int) -> None:
        if type(value) in _ITERATORS:
            self.iterators.append(value)
            return
        reader = _state_of(value)
        if reader is None:
            self._add_object(value, depth)
            return
        state = _or_nothing(reader[0], value)
        if state is not _NOTHING:
            self._undo.append((reader[1], value, state))

    def _add_function(self, function: Any, depth: int) -> None:
        """What a function remembers. Containers around it belong to those who look on: a hook that collects outputs."""
        if isinstance(function, functools.partial):
            self._add_items((function.func, function.args, function.keywords), depth)
            return
        if isinstance(function, MethodType):
            if depth == 0 or issubclass(type(function.__self__), nn.Module):
                self.add(function.__self__, depth)
            return
        if not is_looked_into(function.__module__ or ""):
            return
        for cell in function.__closure__ or ():
            content = _or_nothing(_content_of, cell)
            if content is not _NOTHING:
                self._undo.append((_set_cell, cell, content))
                if isinstance(content, (Tensor, nn.Module, *_FUNCTIONS)):
                    self.add(content, depth + 1)
        for name in function.__code__.co_names:
            used = function.__globals__.get(name)
            if issubclass(type(used), Tensor | nn.Module):
                self.add(used, depth + 1)
        self._add_items((function.__defaults__, function.__kwdefaults__, vars(function)), depth)


def _contents(container: Any) -> Any:
    """A shallow copy of what is in a container, also of a class of the user's own."""
    if isinstance(container, dict):
        kind: Any = OrderedDict if isinstance(container, OrderedDict) else dict
        return dict(kind.items(container))
    return bytes(container) if isinstance(container, bytearray) else list(container)


def put_contents(container: Any, before: Any) -> None:
    """Set a container's content back to a copy of it."""
    if isinstance(container, dict):
        if not same(container, before):
            kind: Any = OrderedDict if isinstance(container, OrderedDict) else dict
            kind.clear(container)
            for key, value in before.items():
                kind.__setitem__(container, key, value)
    elif isinstance(container, list | bytearray):
        container[:] = before
    elif len(container) != len(before) or not all(map(operator.is_, container, before)):
        container.clear()
        container.update(before) if isinstance(container, set) else container.extend(before)


def put_dicts(dicts: Sequence[tuple[dict[Any, Any], dict[Any, Any]]]) -> None:
    """Give dicts the content they had; nearly always they have it, which is seen fastest of all at once."""
    pairs = [pair for now, before in dicts for pair in (now.values(), before.values(), now, before)]
    lengths = list(map(len, pairs))
    is_as_before = lengths[::2] == lengths[1::2] and all(
        map(operator.is_, itertools.chain.from_iterable(pairs[::2]), itertools.chain.from_iterable(pairs[1::2]))
    )
    if not is_as_before:
        for now, before in dicts:
            put_contents(now, before)


def same(now: dict[Any, Any], before: dict[Any, Any]) -> bool:
    """Whether both hold the very same objects in the same order."""
    kind: Any = OrderedDict if isinstance(now, OrderedDict) else dict
    return (
        len(now) == len(before)
        and all(map(operator.is_, kind.values(now), before.values()))
        and all(map(operator.is_, kind.__iter__(now), before))
    )


def stand_in(iterator: Any) -> Any:
    """Another iterator at the same place."""
    if type(iterator) is not itertools.count:
        return copy.copy(iterator)
    numbers = _COUNT.fullmatch(repr(iterator))
    return itertools.count(*[int(number) for number in numbers.groups("1")]) if numbers else iterator


def _state_of(value: Any) -> tuple[Callable[[Any], Any], Callable[[Any, Any], Any]] | None:
    """How to read and to write the state of generators of random numbers and of arrays."""
    kind = type(value)
    for class_, read, write in _states():
        if issubclass(kind, class_):
            return read, write
    return None


def _states() -> Iterator[tuple[type, Callable[[Any], Any], Callable[[Any, Any], Any]]]:
    yield torch.Generator, torch.Generator.get_state, torch.Generator.set_state
    yield random.Random, random.Random.getstate, random.Random.setstate
    if numpy := sys.modules.get("numpy"):
        yield numpy.random.RandomState, numpy.random.RandomState.get_state, numpy.random.RandomState.set_state
        yield numpy.random.Generator, lambda it: it.bit_generator.state, _put_generator
        yield numpy.ndarray, _copy_array, _put_array


def _put_generator(generator: Any, before: Any) -> None:
    generator.bit_generator.state = before


def _copy_array(array: Any) -> Any:
    if array.nbytes > _MAX_BYTES or not array.flags.writeable:
        raise ValueError
    return array.copy()


def _put_array(array: Any, before: Any) -> None:
    if array.shape == before.shape:
        array[...] = before


def is_looked_into(python_module: str) -> bool:
    """Whether what this Python module defines may hold what is a model's own."""
    return python_module.partition(".")[0] not in _LIBRARIES or python_module.startswith(_STATEFUL)


_content_of: Any = operator.attrgetter("cell_contents")


def _set_cell(cell: Any, before: Any) -> None:
    cell.cell_contents = before


def _or_nothing(read: Callable[..., Any], *args: Any) -> Any:
    try:
        return read(*args)
    except Exception:  # noqa: BLE001 - an empty slot or cell; whatever the user's own class does
        return _NOTHING
