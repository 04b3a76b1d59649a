"""Patterns with `*` and `?`, as `viewer/src/view/patterns.ts` reads them; `tests/globs.json` tests both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["compile_globs"]


def compile_globs(patterns: Iterable[str]) -> Callable[[str], object]:
    """Make a test whether a whole name matches any pattern: ``*`` is anything, dots included, ``?`` one character."""
    # several stars in a row would take polynomial time
    plain = "|".join(re.escape(re.sub(r"\*+", "*", pattern)) for pattern in patterns)
    return re.compile(plain.replace(r"\*", ".*").replace(r"\?", "."), re.DOTALL).fullmatch
