"""Stubs for unknown constructor arguments, which record how ``__init__`` uses them.

A `Number` is a number, and so fits wherever a layer wants a size; what is made of it by arithmetic still knows where it
came from. What a value can't be used as ends the run with `Misuse`, which says what the argument must be instead.
"""

from __future__ import annotations

import inspect
import linecache
import re
import sys
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from modeldiagrams.resolve.code.running_code import (
    count_unpacked,
    find_looked_up_keys,
    has_default,
    is_asked_for_tensor,
    is_given_to_old_tensor,
    is_lookup,
    is_written,
    key_taken,
)
from modeldiagrams.resolve.names.vocabulary import is_listed, list_usual_values
from modeldiagrams.resolve.values.construct import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = [
    "MADE_OF",
    "Fields",
    "Fixed",
    "Items",
    "Misuse",
    "Number",
    "PlainData",
    "Real",
    "Slot",
    "Text",
    "Use",
    "slots_of",
    "unwrap_numbers",
    "wrap_number",
    "wrap_text",
]

_OURS = "modeldiagrams."
MADE_OF = "_made_of_arguments"
"""Attribute of a tensor with the unknown arguments that its values are."""


Slot = Any
"""A `slots.Slot`, which imports this module."""


@dataclass(frozen=True)
class Use:
    """One use of an argument."""

    how: str
    """``attribute``, ``key``, ``mapping``, ``items``, ``length``, ``called``, ``text``, ``number``, ``array``, what
    ``forward`` calls, the ``shape`` of a tensor, ``members`` that a call needs, what a tensor or a module ``lacks``,
    ``classes`` that it is compared with, what it has to be an ``instance`` of or ``equal`` to, or what is a
    ``plain`` number."""
    detail: Any = None
    """Name, key or string; for items their number; for calls the number of arguments and the names of others."""


class Misuse(BaseException):
    """Raised where a stub of this kind can't be used. The model's own handlers don't catch it."""

    def __init__(self, slot: Slot, use: Use) -> None:
        super().__init__(slot.path, use)
        self.slot: Any = slot
        self.use = use


def slots_of(value: Any) -> tuple[Any, ...]:
    """The unknown arguments that a value was computed from."""
    slots = getattr(type(value), "_slots_of", None)
    if slots is None and isinstance(value, tuple | list):
        return tuple(dict.fromkeys(slot for item in value for slot in slots_of(item)))
    return slots(value) if slots else ()


class _Stub:
    """What all stubs share: a copy of a stub is the stub."""

    __slots__ = ()
    slot: Slot

    def _slots_of(self) -> tuple[Slot, ...]:
        return (self.slot,)

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class _Numeric(_Stub):
    """What `Number` and `Real` share."""

    slots: tuple[Slot, ...]
    is_derived: bool

    def _slots_of(self) -> tuple[Slot, ...]:
        return self.slots

    def _refuse(self, use: Use) -> Misuse:
        return Misuse(self.slots[0], use)

    def _refuse_unlike(self, other: Any, classes: list[Any]) -> None:
        """Refuse to be what is compared with another string, with a class or with a member of an enumeration."""
        if isinstance(other, str) and not isinstance(other, Enum):
            raise self._refuse(Use("text", str(other)))
        if inspect.isclass(other):
            raise self._refuse(Use("classes", tuple(classes)))
        if isinstance(other, Enum):
            raise self._refuse(Use("instance", (type(other),)))

    def __eq__(self, other: object) -> bool:
        self._refuse_unlike(other, [other])
        for slot in self.slots:
            slot.compared_with(other)
        return bool(super().__eq__(other) is True)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        for slot in () if self.is_derived else self.slots:
            slot.is_tested = True
        return bool(super().__ne__(0))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or self.is_derived or is_asked_for_tensor(sys._getframe(1), name):  # noqa: SLF001
            raise AttributeError(name)
        key = key_taken(sys._getframe(1), name)  # noqa: SLF001
        if name == "keys" and not is_written(sys._getframe(1), name):  # noqa: SLF001
            raise self._refuse(Use("mapping"))  # `dict(cfg)`, `make(**cfg)`
        raise self._refuse(Use("attribute", name) if key is None else Use("key", key))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(1)  # noqa: SLF001
        if "callable(" in linecache.getline(frame.f_code.co_filename, frame.f_lineno) and not args:
            return self  # `d() if callable(d) else d`: no function was asked for
        raise self._refuse(Use("called", (len(args), tuple(kwargs))))

    def __hash__(self) -> int:
        keys = find_looked_up_keys(sys._getframe(1))  # noqa: SLF001
        for key in keys if all(isinstance(key, str) or type(key) is int for key in keys) else ():
            self.slots[0].compared_with(str(key) if isinstance(key, str) else key)
        for key in keys[:1]:
            self._refuse_unlike(key, [key for key in keys if inspect.isclass(key)])
        return int(super().__hash__())


class Number(_Numeric, int):
    """A whole number that knows its arguments."""


class Real(_Numeric, float):
    """A decimal number that knows its arguments."""


class _Open:
    """A number that may as well turn out to be a list or a mapping."""

    _refuse: Callable[[Use], Misuse]
    slots: tuple[Slot, ...]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            raise self._refuse(Use("key", key))
        raise self._refuse(Use("items", count_unpacked(sys._getframe(1))))  # noqa: SLF001

    def __len__(self) -> int:
        is_plain = is_given_to_old_tensor(sys._getframe(1))  # noqa: SLF001
        raise self._refuse(Use("plain") if is_plain and not self._is_a_list_by_name() else Use("length"))

    def _is_a_list_by_name(self) -> bool:
        """Whether its name says that it has several numbers: ``torch.Tensor(std)``."""
        slot = self.slots[0]
        return slot.place is None and bool(list_usual_values("tensors", slot.name))


class _OpenNumber(_Open, Number):
    pass


class _OpenReal(_Open, Real):
    pass


_OpenNumber.__name__, _OpenReal.__name__ = Number.__name__, Real.__name__  # messages that are read name them


def wrap_number(value: Any, slots: Iterable[Slot], *, is_derived: bool = False) -> Any:
    """A number that knows the arguments it was computed from; other values unchanged."""
    slots = tuple(slots)
    is_plain = any(slot.is_plain for slot in slots)
    kind = ({int: Number, float: Real} if is_plain else {int: _OpenNumber, float: _OpenReal}).get(type(value))
    if kind is None:
        return value
    made = kind(value)
    made.slots, made.is_derived = tuple(dict.fromkeys(slots)), is_derived
    return made


def _operation(name: str, kind: type) -> Callable[..., Any]:
    plain = getattr(kind, name)

    def operation(self: Any, *others: Any) -> Any:
        if name in ("__add__", "__radd__") and isinstance(others[0], list | tuple):
            raise self._refuse(Use("items"))
        slots = [*self.slots, *(slot for other in others for slot in slots_of(other))]
        for slot in slots:
            slot.is_in_arithmetic = True
        return wrap_number(plain(self, *others), slots, is_derived=True)

    return operation


_BINARY = ("add", "sub", "mul", "floordiv", "mod", "pow", "truediv")
for _kind, _plain in ((Number, int), (Real, float)):
    for _word in (*(f"__{word}__" for word in _BINARY), *(f"__r{word}__" for word in _BINARY), "__neg__", "__abs__"):
        setattr(_kind, _word, _operation(_word, _plain))


def unwrap_numbers(value: Any) -> Any:
    """Plain numbers, for functions such as `torch.tensor` that would take a stub for a list."""
    if isinstance(value, list | tuple):
        return [unwrap_numbers(item) for item in (list.__iter__(value) if isinstance(value, list) else value)]
    if isinstance(value, Number):
        return int(value)
    return float(value) if isinstance(value, Real) else value


class Text(_Stub, str):
    """A string that records what the model's code compares it with."""

    __slots__ = ("slot",)

    def __hash__(self) -> int:
        for key in find_looked_up_keys(sys._getframe(1)):  # noqa: SLF001
            if type(key) is str:
                self.slot.compared_with(key)
        return str.__hash__(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or is_asked_for_tensor(sys._getframe(1), name):  # noqa: SLF001
            raise AttributeError(name)
        raise Misuse(self.slot, Use("attribute", name))


def _comparing(name: str) -> Callable[..., bool]:
    """A method of strings that notes what the model's code compares with."""

    def method(self: Text, other: Any, *args: Any) -> bool:
        frame = sys._getframe(1)  # noqa: SLF001
        is_theirs = not str(frame.f_globals.get("__name__")).startswith(("torch.", _OURS))
        if is_theirs and not (is_lookup(frame) or isinstance(other, Text)):  # `find_looked_up_keys` knows those
            self.slot.compared_with(other)
        return isinstance(other, str | tuple) and getattr(str, name)(self, other, *args) is True

    return method


def _keep_slot(name: str) -> Callable[..., Text]:
    """A method of strings that gives the same name, written in another way."""

    def method(self: Text, *args: Any) -> Text:
        return wrap_text(getattr(str, name)(self, *args), self.slot)

    return method


for _name in ("__eq__", "__ne__", "__contains__", "startswith", "endswith"):
    setattr(Text, _name, _comparing(_name))
for _name in ("lower", "upper", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "replace"):
    setattr(Text, _name, _keep_slot(_name))


def wrap_text(value: str, slot: Slot) -> Text:
    """A string that knows its argument."""
    made = Text(value)
    made.slot = slot
    return made


MADE_UP = re.compile(r"item\d+")
"""Keys of a mapping of which no name is known."""


class _Several(_Stub):
    """What lists and tuples share."""

    def __iter__(self) -> Any:
        expected = count_unpacked(sys._getframe(1))  # noqa: SLF001
        if expected not in (None, len(self)):
            raise Misuse(self.slot, Use("items", expected))
        return super().__iter__()  # type: ignore[misc]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) or not {*slots_of(key)}.isdisjoint(self.slot.children.values()):
            raise Misuse(self.slot, Use("key", unwrap_numbers(key)))
        if isinstance(key, int) and key >= len(self):
            raise Misuse(self.slot, Use("items", int(key) + 1))
        return super().__getitem__(key)  # type: ignore[misc]

    def __getattr__(self, name: str) -> Any:
        if name == "__array__" and is_listed("graphs", self.slot.name):  # `np.asarray(adj)`
            raise Misuse(self.slot, Use("array"))
        is_harmless = name in ("shape", "device") or is_asked_for_tensor(sys._getframe(1), name)  # noqa: SLF001
        if name.startswith("__") or is_harmless:
            raise AttributeError(name)
        raise Misuse(self.slot, Use("attribute", name))


class Items(_Several, list[Any]):
    """A list that knows its argument."""

    def copy(self) -> Items:
        """As `list.copy`, which mappings have, too: what is done with the copy tells what it is."""
        made = Items(self)
        made.slot = self.slot
        return made

    def pop(self, *place: Any) -> Any:
        """As `list.pop`; with a string, it is a mapping."""
        if place and isinstance(place[0], str):
            raise Misuse(self.slot, Use("key", place[0]))
        return super().pop(*place)


class Fixed(_Several, tuple[Any, ...]):  # noqa: SLOT001  (it has a slot in our sense)
    """A tuple that knows its argument."""


class Fields(_Stub, dict[str, Any]):
    """A configuration that invents the values that are read, as keys or as attributes."""

    def __init__(self, slot: Slot) -> None:
        super().__init__()
        object.__setattr__(self, "slot", slot)
        for name in slot.children:
            super().__setitem__(str(name), slot.child(name).value())

    def _read(self, name: str) -> Any:
        if name not in self:
            slot = self.slot
            child = slot.child(name)
            if not MADE_UP.fullmatch(str(name)):  # keys that were made up are those of nothing
                for made_up in [key for key in slot.children if MADE_UP.fullmatch(str(key))]:
                    del slot.children[made_up]
            child.name = slot.name if isinstance(name, Text) else child.name  # a name that is made up says nothing
            super().__setitem__(name, child.value())
        return super().__getitem__(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or (name not in self and has_default(sys._getframe(1))):  # noqa: SLF001
            raise AttributeError(name)
        self.slot.ways.add("attribute")
        return self._read(name)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)

    def __contains__(self, name: object) -> bool:
        if not str(sys._getframe(1).f_globals.get("__name__")).startswith(_OURS):  # noqa: SLF001
            self.slot.ways.add("contains")
        return super().__contains__(name)

    def __getitem__(self, name: Any) -> Any:
        if slots_of(name) and not isinstance(name, str) and super().__len__():
            raise Misuse(slots_of(name)[0], Use("text", ""))  # the other keys are strings
        if isinstance(name, int | slice):
            raise Misuse(self.slot, Use("items"))
        self.slot.ways.add("key")
        return self._read(name)

    def pop(self, name: Any, *default: Any) -> Any:
        """As `dict.pop`; the argument still has what is taken out of it."""
        if default and name not in self:
            return default[0]
        value = self[name]
        super().pop(name)
        return value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: who calls it expects a class or a function."""
        raise Misuse(self.slot, Use("called", (len(args), tuple(kwargs))))


def _filled(name: str) -> Callable[[Fields], Any]:
    """A method of mappings that sees some keys where none is known."""

    def method(self: Fields) -> Any:
        if not self.slot.children:
            self.slot.fill()
            for key in self.slot.children:
                self._read(str(key))
        return getattr(dict, name)(self)

    return method


for _name in ("items", "keys", "values"):
    setattr(Fields, _name, _filled(_name))


class PlainData(TorchFunctionMode):
    """Unwraps stubs in functions that make tensors, and ends a run with too many calls of PyTorch."""

    def __init__(self, most_calls: int) -> None:
        super().__init__()
        self.calls_left = most_calls

    def __torch_function__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        self.calls_left -= 1
        if self.calls_left < 0:
            raise TooLargeError
        if func in (torch.tensor, torch.as_tensor):
            slots = tuple(slot for value in args[:1] for slot in slots_of(value))
            if slots and isinstance(args[0], Number | Real | Items) and is_listed("graphs", slots[0].name):
                raise Misuse(slots[0], Use("array"))
            made = func(*map(unwrap_numbers, args[:1]), *args[1:], **(kwargs or {}))
            if slots:  # without any, it may be a tensor of the model's author
                setattr(made, MADE_OF, slots)
            return made
        if func is Tensor.copy_ and len(args) > 1 and slots_of(args[1]):
            raise Misuse(slots_of(args[1])[0], Use("shape", tuple(args[0].shape)))
        if func in (Tensor.__getitem__, Tensor.__setitem__) and isinstance(args[1], Items | Fixed):
            args = [args[0], unwrap_numbers(args[1]), *args[2:]]
        return func(*args, **(kwargs or {}))
