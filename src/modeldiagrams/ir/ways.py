"""The ways through a model's code: which sides of its branches and loops a pass took, and which modules it left out."""

from __future__ import annotations

from typing import Literal

import msgspec

from modeldiagrams.ir.nodes import ParameterCount, Struct

__all__ = ["Side", "UncalledModule", "WaitsFor", "Way"]

WaitsFor = Literal["mode", "input", "configuration", "size", "value", "other"]
"""What decides between sides: ``mode`` (``self.training``), ``input`` (an argument that was left out, or what it is),
``configuration`` (attributes set when the model was made), ``size`` (of a tensor), ``value`` (of a tensor)."""

QuietSide = tuple[str, str, str]
"""A side that a pass took without running tensors or modules there: source and condition of the way, and name."""


class Side(Struct, frozen=True, kw_only=True):
    """One side of a way, with code that runs tensors or modules; sides without any are left out."""

    name: str
    """``yes`` or ``no`` for a condition, the pattern for a ``case``, ``yes`` for the body of a loop."""
    line: int
    """The first line of the side."""
    taken: bool
    """Whether any call in the pass took it."""
    cases: tuple[int, ...] = ()
    """Indices in `Graph.cases` of the cases that took it; empty if all did that reached it, or if there are none."""


class Way(Struct, frozen=True, kw_only=True):
    """A place in the model's code that a pass reached and that leads on in several ways."""

    source: str
    """``file:line`` of the condition; the file is relative to its import root."""
    statement: Literal["if", "expression", "match", "for", "while"]
    """``if``: also an early exit; the other side is the rest of function or loop. ``expression``: ``a if b else c``."""
    condition: str
    """The condition as written, the subject of a ``match``, or what a loop runs over; in one line."""
    waits_for: WaitsFor
    function: str
    """Qualified name of the function within its module: ``BertLayer.forward``."""
    classes: tuple[str, ...] = ()
    """Qualified classes of the module calls in which it ran; empty for the root alone being a function."""
    sides: tuple[Side, ...]
    """In the order of the code."""


class UncalledModule(Struct, frozen=True, kw_only=True):
    """A registered module that no pass called, nor any module in it, and whose weights no op used."""

    path: str
    """Dotted path from the root module. Modules inside it are left out."""
    class_: str = msgspec.field(name="class")
    parameters: ParameterCount
