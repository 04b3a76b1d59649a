"""Suggests what an author may have meant by a pattern that matches nothing."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from modeldiagrams.common.globs import compile_globs

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["nearest"]


def nearest(pattern: str, names: Iterable[str]) -> str | None:
    """The nearest name, or patterns of the items if a list of modules was meant.

    A `ModuleList` is never called, so graphs have only its items.
    """
    known, matches = [*names], compile_globs([pattern])
    digits = set[int]()
    for name in known:
        parts = name.split(".")
        for at, part in enumerate(parts):
            if at and part.isdigit() and matches(".".join(parts[:at])):
                digits.add(len(part))
    if digits:
        return ", ".join(f"{pattern}.{'?' * count}" for count in sorted(digits))
    return next(iter(difflib.get_close_matches(pattern, known, n=1)), None)
