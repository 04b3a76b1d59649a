"""A string that stands for an unknown constructor argument, and records what it is compared with; see `unknown`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.arguments.stand_in_numbers import Refused, Slot, Use
from modeldiagrams.resolve.code.frames import is_asked_for_tensor, is_containment, is_lookup, keys_looked_up

if TYPE_CHECKING:
    from collections.abc import Callable
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


def _keep_slot(name: str) -> Callable[..., Text]:
    """A method of strings that gives the same name, written in another way."""

    def method(self: Text, *args: Any) -> Text:
        return text(getattr(str, name)(self, *args), self.slot)

    return method


for _name in ("lower", "upper", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "replace"):
    setattr(Text, _name, _keep_slot(_name))


def text(value: str, slot: Slot) -> Text:
    """A string that knows its argument."""
    made = Text(value)
    made.slot = slot
    return made
