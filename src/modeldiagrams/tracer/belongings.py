"""What a model holds besides modules and tensors: containers, objects, generators of random numbers, functions."""

from __future__ import annotations

import copy
import functools
import itertools
import logging
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
    "LIBRARIES",
    "MAX_DEPTH",
    "MAX_ITEMS",
    "Belongings",
    "Dicts",
    "home_of",
    "is_looked_into",
    "put_back",
    "put_contents",
    "stand_in",
]

_log = logging.getLogger(__name__)

ATOMS = frozenset({str, int, float, bool, type(None), torch.dtype, torch.device})
"""Kinds of values that cannot change."""
LIBRARIES = frozenset({"torch", "numpy", *sys.stdlib_module_names})
"""What these define is no model's own."""
_STATEFUL = ("collections", "torch.amp.", "torch.optim.", "types", "weakref")
"""Libraries' modules whose objects are looked into all the same: optimizers, `types.SimpleNamespace`, `UserDict`."""
_RUNNING = frozenset({"asyncio", "concurrent", "io", "logging", "multiprocessing", "queue", "socket", "threading"})
"""Libraries whose objects, also of classes derived from theirs, are in step with what is outside of them: threads."""
KINDS: tuple[Any, ...] = (OrderedDict, dict, list, set, deque, bytearray)
"""Kinds of containers that can change."""
_ITERATORS = frozenset(map(type, (iter([]), iter(()), iter(range(0)), itertools.count())))
MAX_DEPTH = 6
"""How deep containers are nested in each other at most."""
MAX_ITEMS = 4096
"""How many things in a container are looked into."""
_MAX_ENTERED = 1 << 15
"""A model may hold its training data."""
_MAX_BYTES = 1 << 24
"""Of arrays that are copied, in all; for the same reason."""
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
        self.dicts: list[dict[Any, Any]] = []
        """Those found, and what others add; what is in them is remembered when all are known."""
        self._dicts = Dicts([])
        self._bytes = 0
        self._entered: dict[int, Any] = {}
        self._undo: list[tuple[Callable[[Any, Any], Any], Any, Any]] = []

    def add(self, value: Any, depth: int = 0) -> None:
        """Remember a value and what is in it, as far as its classes let it be seen."""
        _or_nothing(self._add, value, depth)

    def _add(self, value: Any, depth: int) -> None:
        kind = type(value)
        if id(value) in self._entered or (kind is tuple and ATOMS.issuperset(map(type, value))):
            return
        if len(self._entered) > _MAX_ENTERED:
            return
        self._entered[id(value)] = value  # kept alive, so that ids stay unique
        if issubclass(kind, Tensor):
            self.tensors.append(value)
        elif issubclass(kind, nn.Module):
            if "_modules" in vars(value):  # else it is not initialised
                self.modules.append(value)
        elif issubclass(kind, KINDS):
            self._add_container(value, depth)
        elif issubclass(kind, tuple | frozenset):
            self._add_items((tuple if issubclass(kind, tuple) else frozenset).__iter__(value), depth)
        elif issubclass(kind, _FUNCTIONS):
            self._add_function(value, depth)
        else:
            self._add_other(value, depth)

    def close(self) -> None:
        """Nothing more is added."""
        self._dicts = Dicts(self.dicts)

    def restore(self) -> None:
        """Put everything back."""
        self._dicts.restore()
        for write, value, content in self._undo:
            put_back(write, value, content)

    def _add_container(self, value: Any, depth: int) -> None:
        kind, base = type(value), _base_of(value)
        if base is bytearray:
            self._add_bytes(put_contents, value, bytearray.__len__(value), bytes)
        elif kind is dict or kind is OrderedDict:
            self.dicts.append(value)
        else:
            self._undo.append((put_contents, value, _contents(value)))
        if base is not bytearray:
            self._add_items((base.values if issubclass(base, dict) else base.__iter__)(value), depth)
        if kind not in KINDS:
            self._add_object(value, depth)

    def _add_bytes(self, write: Callable[[Any, Any], Any], value: Any, size: int, read: Callable[[Any], Any]) -> None:
        if self._bytes + size <= _MAX_BYTES:
            self._bytes += size
            self._undo.append((write, value, read(value)))

    def _add_items(self, items: Iterable[Any], depth: int) -> None:
        if depth < MAX_DEPTH:
            for item in [item for item in itertools.islice(items, MAX_ITEMS) if type(item) not in ATOMS]:
                self.add(item, depth + 1)

    def _add_object(self, value: Any, depth: int) -> None:
        """The attributes of a plain object: a cache, a configuration; none of what torch and Python look after."""
        kind = type(value)
        if issubclass(kind, type | ModuleType) or not is_looked_into(home_of(kind)):
            return
        if not _RUNNING.isdisjoint([home_of(base).partition(".")[0] for base in kind.__mro__[1:-1]]):
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
        numpy = sys.modules.get("numpy")
        if numpy is not None and issubclass(type(value), numpy.ndarray):
            if value.flags.writeable:
                self._add_bytes(_put_array, value, value.nbytes, numpy.ndarray.copy)
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
        if not is_looked_into(str(function.__module__)):
            return
        for cell in function.__closure__ or ():
            content = _or_nothing(_content_of, cell)
            if content is not _NOTHING:
                self._undo.append((_set_cell, cell, content))
                if issubclass(type(content), (Tensor, nn.Module, *_FUNCTIONS)):
                    self.add(content, depth + 1)
        for name in function.__code__.co_names:
            used = function.__globals__.get(name)
            if issubclass(type(used), Tensor | nn.Module):
                self.add(used, depth + 1)
        self._add_items((function.__defaults__, function.__kwdefaults__, vars(function)), depth)


def _contents(container: Any) -> Any:
    """A shallow copy of what is in a container, also of a class of the user's own: what that makes of it is not run."""
    base = _base_of(container)
    return dict(base.items(container)) if issubclass(base, dict) else list(base.__iter__(container))


def put_contents(container: Any, before: Any) -> None:
    """Set a container's content back to a copy of it."""
    base = _base_of(container)
    if issubclass(base, dict):
        if not _is_same(container, before):
            base.clear(container)
            if base is dict:
                dict.update(container, before)  # does not ask keys for their hash again
            else:
                for key, value in before.items():
                    base.__setitem__(container, key, value)
    elif base is bytearray or base is list:
        if not _has_items(base, container, before):
            base.__setitem__(container, slice(None), before)
    elif not _has_items(base, container, before):
        base.clear(container)
        (set.update if base is set else deque.extend)(container, before)


def _base_of(container: Any) -> Any:
    return next(kind for kind in KINDS if issubclass(type(container), kind))


def _has_items(base: Any, container: Any, before: Any) -> bool:
    return base.__len__(container) == len(before) and all(map(operator.is_, base.__iter__(container), before))


class Dicts:
    """Plain dicts and what is in them; nearly always that is what was in them, which is seen fastest of all at once."""

    def __init__(self, dicts: Sequence[dict[Any, Any]]) -> None:
        """Remember.

        Args:
            dicts: No others may be in here later.
        """
        self._dicts = dicts
        self.keys, self.values, self.lengths = self._content()
        """Of all of them, one after the other."""

    def restore(self) -> None:
        """Put everything back."""
        if self._is_as_before():
            return
        start = 0
        for now, length in zip(self._dicts, self.lengths, strict=True):
            part = slice(start, start := start + length)
            put_back(_put_items, now, self.keys[part], self.values[part])

    def _is_as_before(self) -> bool:
        try:
            keys, values, lengths = self._content()
            return lengths == self.lengths and keys == self.keys and all(map(operator.is_, values, self.values))
        except Exception:  # noqa: BLE001 - keys of the user's own classes
            return False

    def _content(self) -> tuple[list[Any], list[Any], list[int]]:
        chain, dicts = itertools.chain.from_iterable, self._dicts
        return list(chain(dicts)), list(chain([now.values() for now in dicts])), list(map(len, dicts))


def _put_items(now: dict[Any, Any], keys: list[Any], values: list[Any]) -> None:
    if not (_has_items(list, list(now), keys) and _has_items(list, list(now.values()), values)):
        put_contents(now, dict(zip(keys, values, strict=True)))


def _is_same(now: dict[Any, Any], before: dict[Any, Any]) -> bool:
    """Whether both hold the very same objects in the same order."""
    kind: Any = OrderedDict if isinstance(now, OrderedDict) else dict
    return (
        kind.__len__(now) == len(before)
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
    for class_, read, write in _states():
        if issubclass(type(value), class_):
            return read, write
    return None


def _states() -> Iterator[tuple[type, Callable[[Any], Any], Callable[[Any, Any], Any]]]:
    yield torch.Generator, torch.Generator.get_state, torch.Generator.set_state
    yield random.Random, random.Random.getstate, random.Random.setstate
    if (numpy := sys.modules.get("numpy")) and "numpy.random" in sys.modules:
        yield numpy.random.RandomState, numpy.random.RandomState.get_state, numpy.random.RandomState.set_state
        yield numpy.random.Generator, lambda it: it.bit_generator.state, _put_generator


def _put_generator(generator: Any, before: Any) -> None:
    generator.bit_generator.state = before


def _put_array(array: Any, before: Any) -> None:
    kind = sys.modules["numpy"].ndarray
    if array.shape == before.shape and kind.tobytes(array) != kind.tobytes(before):
        kind.__setitem__(array, ..., before)


def home_of(class_: type) -> str:
    """The name of the Python module that defines a class, as far as the class tells it."""
    return str(_HOME.__get__(class_))


_HOME: Any = vars(type)["__module__"]


@functools.lru_cache(maxsize=4096)
def is_looked_into(python_module: str) -> bool:
    """Whether what this Python module defines may hold what is a model's own."""
    return python_module.partition(".")[0] not in LIBRARIES or python_module.startswith(_STATEFUL)


_content_of: Any = operator.attrgetter("cell_contents")


def _set_cell(cell: Any, before: Any) -> None:
    cell.cell_contents = before


def put_back(write: Callable[..., Any], *args: Any) -> None:
    """Put one thing back; if that fails, tell it, and go on with the others."""
    try:
        write(*args)
    except Exception as error:  # noqa: BLE001 - whatever the user's own class does
        what = getattr(write, "__qualname__", "") + "".join(f" {type(arg).__name__}" for arg in args[:1])
        _log.warning("A trace could not put something back (%s): %s", what, type(error).__name__)


def _or_nothing(read: Callable[..., Any], *args: Any) -> Any:
    """What comes out, or what stands for nothing at all."""
    try:
        return read(*args)
    except Exception:  # noqa: BLE001 - an empty slot or cell; whatever the user's own class does
        return _NOTHING
