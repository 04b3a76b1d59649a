"""Lists and configurations that stand for an unknown constructor argument, and tensors of them; see `unknown`."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from modeldiagrams.resolve.arguments.stand_in_numbers import MADE_OF, Number, Real, Refused, Slot, Use, plain, slots_of
from modeldiagrams.resolve.arguments.stand_in_text import Text
from modeldiagrams.resolve.code.frames import (
    expression_at,
    is_asked_for_tensor,
    is_called,
    unpacked_count,
    unpacked_names,
)
from modeldiagrams.resolve.names.vocabulary import is_asked, is_listed
from modeldiagrams.resolve.values.allocations import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

__all__ = ["Asked", "Fields", "Fixed", "Items", "PlainData"]

_OURS = "modeldiagrams."
MADE_UP = re.compile(r"item\d+")
"""Keys of a mapping of which no name is known."""


class _Several:
    """What lists and tuples share."""

    slot: Slot

    def _slots_of(self) -> tuple[Slot, ...]:
        return (self.slot,)

    def __iter__(self) -> Any:
        expected, names = unpacked_count(sys._getframe(1)), unpacked_names(sys._getframe(1))  # noqa: SLF001
        if expected not in (None, len(self)):
            raise Refused(self.slot, Use("row", names) if expected and names else Use("items", expected))
        return super().__iter__()  # type: ignore[misc]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) or not {*slots_of(key)}.isdisjoint(self.slot.children.values()):
            raise Refused(self.slot, Use("key", plain(key)))
        if isinstance(key, int) and key >= len(self):
            raise Refused(self.slot, Use("items", int(key) + 1))
        return super().__getitem__(key)  # type: ignore[misc]

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "__array__" and is_listed("graphs", self.slot.name):  # `np.asarray(adj)`
            raise Refused(self.slot, Use("array"))
        is_harmless = name in ("shape", "device") or is_asked_for_tensor(sys._getframe(1), name)  # noqa: SLF001
        if name.startswith("__") or is_harmless:
            raise AttributeError(name)
        raise Refused(self.slot, Use("attribute", name))


class Items(_Several, list[Any]):
    """A list."""

    def copy(self) -> Items:
        """As `list.copy`, which mappings have, too: what is done with the copy tells what it is."""
        made = Items(self)
        made.slot = self.slot
        return made

    def pop(self, *place: Any) -> Any:
        """As `list.pop`; with a string, it is a mapping."""
        if place and isinstance(place[0], str):
            raise Refused(self.slot, Use("key", place[0]))
        return super().pop(*place)


class Fixed(_Several, tuple[Any, ...]):  # noqa: SLOT001  (it has a slot in our sense)
    """A tuple."""


class Fields(dict[str, Any]):
    """A configuration: makes up the values that are read, as keys or as attributes."""

    def __init__(self, slot: Slot) -> None:
        super().__init__()
        object.__setattr__(self, "slot", slot)
        object.__setattr__(self, "is_taken_apart", False)
        for name in slot.children:
            super().__setitem__(str(name), slot.child(name).value())

    def _slots_of(self) -> tuple[Slot, ...]:
        slot: Slot = object.__getattribute__(self, "slot")
        return (slot,)

    def _read(self, name: str) -> Any:
        if name not in self:
            slot: Slot = object.__getattribute__(self, "slot")
            child = slot.child(name)
            if not (
                MADE_UP.fullmatch(str(name)) or is_listed("mappings", slot.name)
            ):  # names that were made up are those of nothing
                for made_up in [key for key in slot.children if MADE_UP.fullmatch(str(key))]:
                    del slot.children[made_up]
            child.name = slot.name if isinstance(name, Text) else child.name  # a name that is made up says nothing
            super().__setitem__(name, child.value())
        return super().__getitem__(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or (name not in self and _has_default(sys._getframe(1))):  # noqa: SLF001
            raise AttributeError(name)
        slot = self._slots_of()[0]
        slot.ways.add("attribute")
        if name not in self and is_called(sys._getframe(1), name) and is_asked(slot.name, name):  # noqa: SLF001
            slot.child(name).kind = "result"
        return self._read(name)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)

    def __contains__(self, name: object) -> bool:
        if not str(sys._getframe(1).f_globals.get("__name__")).startswith(_OURS):  # noqa: SLF001
            self._slots_of()[0].ways.add("contains")
        return super().__contains__(name)

    def __getitem__(self, name: Any) -> Any:
        if slots_of(name) and not isinstance(name, str) and super().__len__():
            raise Refused(slots_of(name)[0], Use("text", ""))  # the other keys are strings
        if isinstance(name, int | slice):
            raise Refused(self._slots_of()[0], Use("items"))
        self._slots_of()[0].ways.add("key")
        return self._read(name)

    def get(self, name: Any, default: Any = None) -> Any:
        """As `dict.get`; what may be missing is noted."""
        if name not in self and default is None and isinstance(name, str):
            self._slots_of()[0].asked[str(name)] = None
        return super().get(name, default)

    def pop(self, name: Any, *default: Any) -> Any:
        """As `dict.pop`; the argument still has what is taken out of it."""
        if default and name not in self:
            return default[0]
        value = self[name]
        super().pop(name)
        object.__setattr__(self, "is_taken_apart", True)
        return value

    def items(self) -> Any:
        """As `dict.items`; of an empty mapping, there are some all the same."""
        return self._filled().items()

    def keys(self) -> Any:
        """As `dict.keys`."""
        return self._filled().keys()

    def values(self) -> Any:
        """As `dict.values`."""
        return self._filled().values()

    def _filled(self) -> Any:
        """What it holds, as a plain view, after it got some keys if it had none."""
        slot = self._slots_of()[0]
        if not slot.children:
            slot.fill()
            for name in slot.children:
                self._read(str(name))
        return super()

    def __bool__(self) -> bool:
        return not self._is_taken_apart() or super().__len__() > 0

    def _is_taken_apart(self) -> bool:
        """Whether what is left of it are keys that nobody wants: ``if params: raise …`` after ``params.pop(…)``."""
        return bool(object.__getattribute__(self, "is_taken_apart"))

    def __len__(self) -> int:
        if self._is_taken_apart():
            return super().__len__()
        slot = self._slots_of()[0]
        if "attribute" in slot.ways and "key" not in slot.ways:
            return int(slot.length())
        if not slot.children or is_listed("mappings", slot.name):  # a vocabulary has words beside those that are read
            slot.fill()
        return len(slot.children)

    def __deepcopy__(self, memo: Any) -> Fields:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: who calls it expects a class or a function."""
        is_asked_for = len(args) == 1 and type(args[0]) is str and not kwargs
        use = Use("asked") if is_asked_for else Use("called", (len(args), tuple(kwargs)))
        raise Refused(self._slots_of()[0], use)


class Asked:
    """A method that is asked for something."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot

    def _slots_of(self) -> tuple[Slot, ...]:
        return (self.slot,)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value of what it gives."""
        return self.slot.answer((*args, *kwargs.values())).value()

    def __len__(self) -> int:
        return int(self.slot.length())

    def __deepcopy__(self, memo: Any) -> Asked:
        return self


class PlainData(TorchFunctionMode):
    """Gives functions that make tensors of data plain numbers, and ends a run that calls PyTorch too often."""

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
                raise Refused(slots[0], Use("array"))
            made = func(*map(plain, args[:1]), *args[1:], **(kwargs or {}))
            if slots:  # without any, it may be a tensor of the model's author
                setattr(made, MADE_OF, slots)
            return made
        if func is Tensor.copy_ and len(args) > 1 and slots_of(args[1]):
            raise Refused(slots_of(args[1])[0], Use("shape", tuple(args[0].shape)))
        if func in (Tensor.__getitem__, Tensor.__setitem__) and isinstance(args[1], Items | Fixed):
            args = [args[0], plain(args[1]), *args[2:]]
        return func(*args, **(kwargs or {}))


def _has_default(frame: FrameType) -> bool:
    """Whether a frame calls `getattr` with what holds where nobody says anything else."""
    match expression_at(frame, frame.f_lasti):
        case ast.Call(func=ast.Name(id="getattr"), args=[_, _, _]):
            return True
    return False
