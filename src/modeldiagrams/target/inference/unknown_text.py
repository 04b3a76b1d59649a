"""A string that stands for an unknown constructor argument, and records what it is compared with; see `unknown`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.lookups import is_asked_for_tensor, is_lookup, keys_looked_up
from modeldiagrams.target.inference.unknown import Refused, Slot, Use

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
        if is_lookup(frame) or isinstance(other, Text):  # among keys, which `keys_looked_up` knows
            return
        if not str(frame.f_globals.get("__name__")).startswith(_OTHERS):
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
                self.slot.compared_with(key)
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


def _tidied(name: str) -> Callable[..., Text]:
    """A method of strings that gives the same name, written in another way."""
    return lambda self, *args: text(getattr(str, name)(self, *args), self.slot)


for _name in ("lower", "upper", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "replace"):
    setattr(Text, _name, _tidied(_name))


def text(value: str, slot: Slot) -> Text:
    """A string that knows its argument."""
    made = Text(value)
    made.slot = slot
    return made
