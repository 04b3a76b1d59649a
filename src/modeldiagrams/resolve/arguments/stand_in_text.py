"""A string that stands for an unknown constructor argument, and records what it is compared with; see `unknown`.

Parts of it, which code takes it apart into, record what they are compared with, too.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.arguments.spelled import Spelling
from modeldiagrams.resolve.arguments.stand_in_numbers import Refused, Slot, Use
from modeldiagrams.resolve.code.frames import is_asked_for_tensor, is_containment, is_lookup, keys_looked_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

__all__ = ["Text", "text"]

_OTHERS = ("torch.", "modeldiagrams.")
"""Whose comparisons say nothing of what the model's author means."""


class Text(str):
    """A string that records what the model's own code compares it with; PyTorch's checks of names say nothing."""

    __slots__ = ("slot",)
    slot: Slot

    def _slots_of(self) -> tuple[Slot, ...]:
        return (self.slot,)

    def _compared(self, other: object, frame: FrameType) -> None:
        if isinstance(other, Text) and self._is_item_beside(other) and is_containment(frame):
            self._note(str.__str__(other))  # names of some of those that another list has
        if is_lookup(frame) or isinstance(other, Text):  # among keys, which `keys_looked_up` knows
            return
        if _is_theirs(frame):
            self._note(other)

    def _is_item_beside(self, other: Text) -> bool:
        """Whether both are items, of two lists."""
        mine, theirs = (each.slot.path.rpartition("[")[0] for each in (self, other))
        return bool(mine and theirs) and mine != theirs

    def _note(self, other: object) -> None:
        self.slot.compared_with(other)

    def __eq__(self, other: object) -> bool:
        self._compared(other, sys._getframe(1))
        return str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        self._compared(other, sys._getframe(1))
        return str.__ne__(self, other) is True

    def __hash__(self) -> int:
        keys = keys_looked_up(sys._getframe(1))  # noqa: SLF001
        theirs = [str.__str__(key) for key in keys if isinstance(key, Text)]  # of another argument
        if theirs and str.__str__(self) not in theirs:
            keys = theirs
        for key in keys:
            if type(key) is str:
                self._note(key)
        return str.__hash__(self)

    def __iter__(self) -> Iterator[Any]:
        if not _is_theirs(sys._getframe(1)):  # noqa: SLF001
            return str.__iter__(self)
        return iter([_part(letter, self, "") for letter in str.__iter__(self)])

    def split(self, sep: Any = None, maxsplit: Any = -1) -> list[Any]:
        """As `str.split`; the parts record what they are compared with."""
        parts = str.split(self, sep, maxsplit)
        return [_part(part, self, sep or " ") for part in parts] if _is_theirs(sys._getframe(1)) else [*parts]  # noqa: SLF001

    def __contains__(self, part: object) -> bool:
        self._compared(part, sys._getframe(1))  # noqa: SLF001
        return isinstance(part, str) and str.__contains__(self, part)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or is_asked_for_tensor(sys._getframe(1), name):  # noqa: SLF001
            raise AttributeError(name)
        raise Refused(self.slot, Use("attribute", name))

    def startswith(self, part: Any, *args: Any) -> bool:
        """As `str.startswith`."""
        self._compared(part, sys._getframe(1))  # noqa: SLF001
        return str.startswith(self, part, *args)

    def endswith(self, part: Any, *args: Any) -> bool:
        """As `str.endswith`."""
        self._compared(part, sys._getframe(1))  # noqa: SLF001
        return str.endswith(self, part, *args)


def _is_theirs(frame: FrameType) -> bool:
    """Whether code of the model's author runs."""
    return not str(frame.f_globals.get("__name__")).startswith(_OTHERS)


class Part(Text):
    """One of several that a string was taken apart into, what it begins with, or the rest of it."""

    __slots__ = ("is_head", "rest_of", "spelling")
    spelling: Spelling
    is_head: bool
    rest_of: list[str]
    """What code found that it begins with, shared by a part and its rest."""

    def _note(self, other: object) -> None:
        if isinstance(other, str):
            (self.spelling.learn_head if self.is_head else self.spelling.learn_word)(str(other))
            self._begins_with(str(other))

    def _begins_with(self, head: str) -> None:
        if self.is_head and str.startswith(self, head):
            self.rest_of[:] = [head]

    def _slots_of(self) -> tuple[Slot, ...]:
        return (self.slot,)

    def startswith(self, part: Any, *args: Any) -> bool:
        """As `str.startswith`."""
        for head in part if isinstance(part, tuple) else (part,):
            self.spelling.learn_head(str(head))
            if str.startswith(self, head):
                self.rest_of[:] = [head]
        return str.startswith(self, part, *args)

    def __getitem__(self, at: Any) -> Any:
        taken = str.__getitem__(self, at)
        is_head = at == 0 or (isinstance(at, slice) and at.start in (None, 0))
        return _part(taken, self, is_head=is_head, rest_of=self.rest_of)

    def __int__(self) -> int:
        self.spelling.learn_number("".join(self.rest_of))
        return int(str.__str__(self))

    def __float__(self) -> float:
        self.spelling.learn_number("".join(self.rest_of))
        return float(str.__str__(self))

    def isdigit(self) -> bool:
        """As `str.isdigit`."""
        self.spelling.learn_number("".join(self.rest_of))
        return str.isdigit(self)


def _part(value: str, whole: Text, separator: str | None = None, *, is_head: bool = False, rest_of: Any = None) -> Part:
    """A part of a string, or of a part of one, that knows how both are written."""
    made = Part(value)
    made.slot, made.is_head, made.rest_of = whole.slot, is_head, [] if rest_of is None else rest_of
    if separator is None:
        made.spelling = whole.spelling
    elif isinstance(whole, Part):
        whole.spelling.inner = whole.spelling.inner or Spelling(separator)
        made.spelling = whole.spelling.inner
    else:
        whole.slot.spelling = whole.slot.spelling or Spelling(separator)
        made.spelling = whole.slot.spelling
    return made


def _tidied(name: str) -> Callable[..., Text]:
    """A method of strings that gives the same name, written in another way."""

    def tidied(self: Text, *args: Any) -> Text:
        value = getattr(str, name)(self, *args)
        return _part(value, self, rest_of=self.rest_of) if isinstance(self, Part) else text(value, self.slot)

    return tidied


for _name in ("lower", "upper", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "replace"):
    setattr(Text, _name, _tidied(_name))


def text(value: str, slot: Slot) -> Text:
    """A string that knows its argument."""
    made = Text(value)
    made.slot = slot
    return made
