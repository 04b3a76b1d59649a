"""A string that stands for an unknown constructor argument, and records what it is compared with; see `unknown`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.lookups import is_asked_for_tensor, is_lookup, strings_looked_up
from modeldiagrams.target.inference.unknown import Refused, Slot, Use

if TYPE_CHECKING:
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
        if is_lookup(frame) or isinstance(other, Text):  # among keys, which `strings_looked_up` knows
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
        for option in strings_looked_up(sys._getframe(1)):  # noqa: SLF001
            self.slot.compared_with(option)
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

    def lower(self) -> Text:
        """As `str.lower`."""
        return text(str.lower(self), self.slot)

    def upper(self) -> Text:
        """As `str.upper`."""
        return text(str.upper(self), self.slot)

    def strip(self, *args: Any) -> Text:
        """As `str.strip`."""
        return text(str.strip(self, *args), self.slot)


def text(value: str, slot: Slot) -> Text:
    """A string that knows its argument."""
    made = Text(value)
    made.slot = slot
    return made
