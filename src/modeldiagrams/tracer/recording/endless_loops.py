"""Ends loops whose condition depends on a value that was not computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modeldiagrams.tracer.values.pass_records import ModuleCall

_ENDLESS = ((600, 0), (50, 10_000))
"""Limits for one line in one module call: number of questions, and steps between the first and the last one.

The first is more than a mixture of experts has experts; the second catches a loop around a whole model.
"""


class EndlessLoop(BaseException):
    """Code keeps asking for values that were not computed. The model's own ``except Exception`` doesn't catch it."""


class Questions:
    """Counts how often each line asked for a value that was not computed."""

    def __init__(self) -> None:
        self._asked: dict[tuple[ModuleCall, str | None], list[int]] = {}
        """Line in a module call → number of recorded steps at each question."""

    def add(self, call: ModuleCall, line: str | None, steps: int) -> None:
        """Note that a line asked after this many steps; raise if it asks too often."""
        asked = self._asked.setdefault((call, line), [])
        asked.append(steps)
        if any(len(asked) > questions and steps - asked[0] > between for questions, between in _ENDLESS):
            raise EndlessLoop(f"{line} asked {len(asked)} times for a value that was not computed")
