"""What each process of a run saw, and what the file of calls says after the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.options.call import RecordedCall  # noqa: TC001  (msgspec reads the annotation)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Part", "SeenCall", "joined"]

_Key = tuple[int, bool, int, int]
"""Depth inside other module calls, whether in train mode, number of the test, number in the test."""


class SeenCall(msgspec.Struct, frozen=True):
    """A call of a class; of several, the one with the least key is the best."""

    key: _Key
    call: RecordedCall
    problem: str = ""
    """Why it can't be written."""
    graph: str = ""
    """JSON of what was traced instead."""

    def is_best_before(self, test: int) -> bool:
        """Whether no call of a later test can be better."""
        return self.key[:2] == (0, False) and self.key[2] < test


class Part(msgspec.Struct):
    """What one process saw."""

    files: list[str]
    """Of the tests, or of the script, that ran."""
    written: dict[str, SeenCall] = {}
    """Class → its best call."""
    refused: dict[str, SeenCall] = {}
    """The same of classes none of whose calls can be written."""


def joined(parts: Iterable[Part]) -> Part:
    """What all processes of a run saw; their order makes no difference."""
    whole = Part(files=[])
    for part in parts:
        whole.files = sorted({*whole.files, *part.files})
        for into, more in ((whole.written, part.written), (whole.refused, part.refused)):
            for name, seen in more.items():
                into[name] = min(into.get(name, seen), seen, key=lambda one: (one.call.rank, one.key, one.call.seen))
    whole.refused = {name: seen for name, seen in whole.refused.items() if name not in whole.written}
    return whole
