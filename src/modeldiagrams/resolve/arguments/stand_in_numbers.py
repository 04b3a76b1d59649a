"""Values that stand for an unknown constructor argument while ``__init__`` runs, and record how they are used.

A `Number` is a number, and so fits wherever a layer wants a size; what is made of it by arithmetic still knows where it
came from. Strings are in `unknown_text`, lists and configurations in `unknown_containers`. What a value can't be used
as ends the run with `Refused`, which says what the argument must be instead.
"""

from __future__ import annotations

import inspect
import linecache
import sys
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.code.frames import (
    is_asked_for_tensor,
    is_called,
    is_given_to_old_tensor,
    is_written,
    key_taken,
    keys_looked_up,
    unpacked_count,
    unpacked_names,
)
from modeldiagrams.resolve.names.vocabulary import usual

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["MADE_OF", "Number", "Real", "Refused", "Slot", "Use", "plain", "slots_of", "wrapped"]

MADE_OF = "_made_of_arguments"
"""Attribute of a tensor with the unknown arguments that its values are."""


Slot = Any
"""A `slots.Slot`, which imports this module."""


@dataclass(frozen=True)
class Use:
    """What an argument was used as."""

    how: str
    """``attribute``, ``method``, ``asked`` by a string, ``key``, ``mapping``, ``items``, a ``row`` of things that have
    names, ``length``, ``called``, ``text``, ``number``, ``array``, what ``forward`` calls, what gives a ``map``, the
    ``shape`` of a tensor, ``members`` that a call needs, the one ``without`` which it works, what a tensor ``lacks``,
    ``classes`` of which it is one, what is a ``plain`` number, or what a condition asks for: ``instance``,
    ``multiple``, ``one of``, ``limit``, ``keys`` of a mapping, ``strings`` in a list, ``names`` of classes."""
    detail: Any = None
    """Name, key or string; for items their number, of a row their names; for calls the number of arguments and the
    names of others."""


class Refused(BaseException):
    """The argument can't be of the kind that was assumed. No handler of the model's own catches this."""

    def __init__(self, slot: Slot, use: Use) -> None:
        super().__init__(slot.path, use)
        self.slot: Any = slot
        self.use = use


def slots_of(value: Any) -> tuple[Any, ...]:
    """The unknown arguments that a value was made of."""
    slots = getattr(type(value), "_slots_of", None)
    if slots is None and isinstance(value, tuple | list):
        return tuple(dict.fromkeys(slot for item in value for slot in slots_of(item)))
    return slots(value) if slots else ()


class _Numeric:
    """What `Number` and `Real` share."""

    slots: tuple[Slot, ...]
    is_derived: bool

    def _slots_of(self) -> tuple[Slot, ...]:
        return self.slots

    def _refuse(self, use: Use) -> Refused:
        return Refused(self.slots[0], use)

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
        how = "method" if is_called(sys._getframe(1), name) else "attribute"  # noqa: SLF001
        raise self._refuse(Use(how, name) if key is None else Use("key", key))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(1)  # noqa: SLF001
        if "callable(" in linecache.getline(frame.f_code.co_filename, frame.f_lineno) and not args:
            return self  # `d() if callable(d) else d`: no function was asked for
        if len(args) == 1 and type(args[0]) is str and not kwargs:
            raise self._refuse(Use("asked"))  # `vocab("<pad>")`
        raise self._refuse(Use("called", (len(args), tuple(kwargs))))

    def __hash__(self) -> int:
        keys = keys_looked_up(sys._getframe(1))  # noqa: SLF001
        for key in keys if all(isinstance(key, str) for key in keys) else ():
            self.slots[0].compared_with(str(key))
        for key in keys[:1]:
            self._refuse_unlike(key, [key for key in keys if inspect.isclass(key)])
        return int(super().__hash__())

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class Number(_Numeric, int):
    """A whole number."""


class Real(_Numeric, float):
    """Any other number."""


class _Open:
    """A number that may as well turn out to be a list or a mapping."""

    _refuse: Callable[[Use], Refused]
    slots: tuple[Slot, ...]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            raise self._refuse(Use("key", key))
        count, names = unpacked_count(sys._getframe(1)), unpacked_names(sys._getframe(1))  # noqa: SLF001
        raise self._refuse(Use("row", names) if count and names else Use("items", count))

    def __len__(self) -> int:
        is_plain = is_given_to_old_tensor(sys._getframe(1))  # noqa: SLF001
        raise self._refuse(Use("plain") if is_plain and not self._is_a_list_by_name() else Use("length"))

    def _is_a_list_by_name(self) -> bool:
        """Whether its name says that it has several numbers: ``torch.Tensor(std)``."""
        slot = self.slots[0]
        return slot.place is None and bool(usual("tensors", slot.name))


class _OpenNumber(_Open, Number):
    pass


class _OpenReal(_Open, Real):
    pass


_OpenNumber.__name__, _OpenReal.__name__ = Number.__name__, Real.__name__  # messages that are read name them


def wrapped(value: Any, slots: Iterable[Slot], *, is_derived: bool = False) -> Any:
    """A number that knows the arguments it was made of; anything else as it is."""
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
            slot.is_reckoned_with = True
        return wrapped(plain(self, *others), slots, is_derived=True)

    return operation


_BINARY = ("add", "sub", "mul", "floordiv", "mod", "pow", "truediv")
for _kind, _plain in ((Number, int), (Real, float)):
    for _word in (*(f"__{word}__" for word in _BINARY), *(f"__r{word}__" for word in _BINARY), "__neg__", "__abs__"):
        setattr(_kind, _word, _operation(_word, _plain))


def plain(value: Any) -> Any:
    """The same numbers without a record, for code that would take those for lists, as `torch.tensor` does."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in (list.__iter__(value) if isinstance(value, list) else value)]
    if isinstance(value, Number):
        return int(value)
    return float(value) if isinstance(value, Real) else value
