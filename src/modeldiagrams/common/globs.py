"""Patterns with `*` and `?`, as `viewer/src/view/patterns.ts` reads them; `tests/globs.json` tests both."""

from __future__ import annotations

import re
from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["NameIndex", "compile_globs"]


def compile_globs(patterns: Iterable[str]) -> Callable[[str], object]:
    """Make a test whether a whole name matches any pattern: ``*`` is anything, dots included, ``?`` one character."""
    # several stars in a row would take polynomial time
    plain = "|".join(re.escape(re.sub(r"\*+", "*", pattern)) for pattern in patterns)
    return re.compile(plain.replace(r"\*", ".*").replace(r"\?", "."), re.DOTALL).fullmatch


class NameIndex:
    """Finds what patterns match, for many patterns and the same names."""

    def __init__(self, names: Mapping[str, Iterable[str]]) -> None:
        """Index names.

        Args:
            names: Id → its names.
        """
        self._ids = [*names]
        self._positions: dict[str, list[int]] = {}
        for at, known in enumerate(names.values()):
            for name in dict.fromkeys(known):
                self._positions.setdefault(name, []).append(at)
        self._names = [*self._positions]
        # one text, because its search takes a fraction of the time of a loop; a hit of more than a name does no harm
        self._text = "".join(f"\n{name}" for name in self._names) + "\n"
        self._starts = [*accumulate((len(name) + 1 for name in self._names), initial=0)]

    def find(self, pattern: str) -> tuple[str, ...]:
        """Find the ids with a name that a pattern matches, in the order of the index."""
        if "*" not in pattern and "?" not in pattern:
            found = self._positions.get(pattern, [])
        else:
            found = sorted({at for name in self._matching(pattern) for at in self._positions[name]})
        return tuple(self._ids[at] for at in found)

    def _matching(self, pattern: str) -> list[str]:
        """Compare a pattern with the names that have its longest part without `*` and `?`."""
        part = max(re.split(r"[*?]+", f"\n{pattern}\n"), key=len)
        candidates = []
        at = self._text.find(part)
        while 0 <= at < self._starts[-1]:
            index = bisect(self._starts, at) - 1
            candidates.append(self._names[index])
            at = self._text.find(part, self._starts[index + 1])
        return [*filter(compile_globs([pattern]), candidates)] if candidates else []
