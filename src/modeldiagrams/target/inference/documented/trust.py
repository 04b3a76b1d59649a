"""How far words are trusted: code overrules them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.target.inference.documented.hints import Hints
    from modeldiagrams.target.inference.symbolic.tensors import Reading

__all__ = ["trusted_reading"]

_MOST_LEFT_OUT = 5


def trusted_reading(hints: Hints, read: Callable[[Hints | None], Reading]) -> Reading:
    """A reading that trusts as much of what is said as suits the code.

    Args:
        hints: What is said.
        read: Reads the forward, trusting so much.
    """
    if not hints.names:
        return read(hints)
    with_all = read(hints)
    if not _misfits(with_all)[0]:
        return with_all
    best, least = with_all, _misfits(with_all)
    without = read(None)
    if _misfits(without) >= least:
        return with_all  # it is not for the words
    for fewer in (replace(hints, is_only_rank=True), *map(hints.without, hints.names[:_MOST_LEFT_OUT])):
        found = read(fewer)
        if _misfits(found) < least:
            best, least = found, _misfits(found)
        if not least[0]:
            return best
    return without if _misfits(without) < least else best


def _misfits(reading: Reading) -> tuple[float, int]:
    """Uses that don't suit each other, worst if the reading came to no end; then how far it came."""
    return (float("inf"), -reading.calls) if reading.error else (float(reading.guesses.clashes), 0)
