"""What a person read in models' code: the sides of branches that one pass leaves out.

A text has a heading for each pass, and below it a line for each side: function, condition, side, what it waits for; at
least two spaces between them. ``?`` before the function marks a side that can be argued about. Two equal lines are two
places in the code. ``*name`` stands for the lines below the heading of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import nn

Made = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]
"""A model, and the arguments of one pass."""


class Unseen(NamedTuple):
    """A side that did not run and that would have run tensors or modules."""

    function: str
    """Its qualified name within its module."""
    condition: str
    """As `ast.unparse` writes it; only how it begins, if it ends with ``…``."""
    side: str
    """``yes``, ``no`` or the pattern of a case."""
    waits_for: frozenset[str]
    """Several if each of them alone keeps the side from running, or if the code can be read either way."""
    is_open: bool
    """Whether it can be argued that this is no side: it counts neither as found nor as wrong."""


@dataclass(frozen=True)
class Reading:
    """A model, how it is called, and what its pass leaves out."""

    name: str
    make: Callable[[], Made]
    unseen: tuple[Unseen, ...]

    def prepared(self) -> Made:
        """The model, in training if the name says so, and the arguments."""
        model, args, kwargs = self.make()
        model.train(self.name.endswith("in training"))
        return model, args, kwargs


def readings(text: str, made: Mapping[str, Callable[[], Made]]) -> list[Reading]:
    """What a person read, with what makes each model."""
    lines: dict[str, list[str]] = {}
    for line in text.strip().splitlines():
        if line.startswith(" "):
            lines[list(lines)[-1]].append(line.strip())
        else:
            lines[line] = []
    assert {name for name in lines if not name.startswith("*")} == set(made)
    return [Reading(name, make, tuple(_unseen(line) for line in _whole(name, lines))) for name, make in made.items()]


def _whole(name: str, lines: Mapping[str, list[str]]) -> list[str]:
    return [one for line in lines[name] for one in (_whole(line, lines) if line.startswith("*") else [line])]


def _unseen(line: str) -> Unseen:
    function, condition, side, waits_for = (part.strip() for part in line.split("  ") if part.strip())
    return Unseen(function.lstrip("?"), condition, side, frozenset(waits_for.split("|")), function.startswith("?"))
