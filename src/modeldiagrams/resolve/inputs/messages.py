"""Sizes that the messages of PyTorch, and of models, contrast: ``must match``, ``expected``, ``but got``."""

from __future__ import annotations

import itertools
import re

__all__ = ["contrasted"]

_PAIRS = (
    r"has size (?P<b>\d+) .*previously seen size (?P<a>\d+)",
    r"tensor a \((?P<a>\d+)\) must match the size of tensor b \((?P<b>\d+)\)",
    r"got:? (?P<a>\d+),? (?:but )?expected:? (?P<b>\d+)",
    r"embedding dimension of (?P<b>\d+), but got (?P<a>\d+)",
    r"Expected size (?P<b>\d+) but got size (?P<a>\d+)",
    r"Expected (?P<b>\d+),? (?:but )?got (?P<a>\d+)",
    r"[Ee]xpected (?P<b>\d+)\b.*? got:? ?(?P<a>\d+)",
    r"to be (?P<b>\d+),? but got (?P<a>\d+)",
    r"to have (?P<b>\d+) channels, but got (?P<a>\d+)",
    r"(?:must|should) be (?:equal to )?(?P<b>\d+)\b.*?got (?P<a>\d+)",
    r"\(\d+x(?P<a>\d+) and (?P<b>\d+)x\d+\)",
    r"\[\d+, (?P<a>\d+)\] X \[(?P<b>\d+), \d+\]",
    r"\((?P<a>\d+)\) .*?\((?P<b>\d+)\)",
    r"but got (?P<a>\d+) \(batch_size=(?P<b>\d+)\)",
    r"(?P<a>\d+) (?:vs\.?|!=|and) (?P<b>\d+)",
)
"""Known forms; `b` is what is likelier to be right."""
_MOST_NUMBERS = 4
"""Of a message of no known form."""


def contrasted(message: str) -> tuple[list[tuple[int, int]], bool]:
    """Pairs of sizes that should be equal, and whether the message has a known form: else it is all of its numbers."""
    found = [(int(match["a"]), int(match["b"])) for pattern in _PAIRS for match in re.finditer(pattern, message)]
    if found:
        return found, True
    numbers = dict.fromkeys(int(number) for number in re.findall(r"(?<![\w.\[-])\d{1,6}(?![\w.\]])", message))
    return [*itertools.combinations([number for number in numbers if number > 1][:_MOST_NUMBERS], 2)], False
