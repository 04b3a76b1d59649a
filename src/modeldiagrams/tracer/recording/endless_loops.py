"""Lines that ask on and on for values that were not computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modeldiagrams.tracer.values.records import ModuleCall

_ENDLESS = ((600, 0), (50, 10_000))
"""Questions at one line in one module call, and steps between the first and the last of them.

More questions than a mixture of experts has experts, or fewer in a loop around a whole model.
"""


class EndlessLoop(BaseException):
    """Code asks on and on for values that were not computed; no handler of the model's for exceptions catches it."""


class Questions:
    """Counts questions for values that were not computed."""

    def __init__(self) -> None:
        self._asked: dict[tuple[ModuleCall, str | None], list[int]] = {}
        """Line in a module call → numbers of steps recorded when it asked."""

    def add(self, call: ModuleCall, line: str | None, steps: int) -> None:
        """A line asked after this many steps; raises if it does on and on."""
        asked = self._asked.setdefault((call, line), [])
        asked.append(steps)
        if any(len(asked) > questions and steps - asked[0] > between for questions, between in _ENDLESS):
            raise EndlessLoop(f"{line} asked {len(asked)} times for a value that was not computed")
