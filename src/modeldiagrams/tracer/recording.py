"""What a pass leaves behind while it runs: plain records, turned into a `Graph` afterwards by `finish`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.graph import Flow

__all__ = ["Call", "Feed", "Op", "Origin", "Recording", "Site", "Source", "SourceKind", "Value"]

SourceKind: TypeAlias = Literal["input", "parameter", "buffer", "constant"]


@dataclass(slots=True, eq=False)
class Value:
    """One state of one tensor. A write makes a new value; the old one stays what it was."""

    id: str
    """``node:index``, the key in `Graph.tensors`."""
    origin: Origin
    index: int
    shape: tuple[int | str, ...] | None
    dtype: str
    nbytes: int = 0
    """New memory this value took: 0 for views and writes into existing memory."""
    inferred: bool = False
    """It left torch and came back: where it came from is deduced, not seen."""


@dataclass(slots=True, eq=False)
class Source:
    """Something that was there before the pass: an input, a weight, a constant."""

    kind: SourceKind
    id: str
    names: tuple[str, ...]
    """Dotted names; more than one for tied weights; empty where the origin was not seen."""
    value: Value = field(init=False)
    call: Call | None = None
    """Where it was met first; only for constants without a name."""

    def hold(self, shape: tuple[int | str, ...] | None, dtype: str) -> Value:
        """Say what it is."""
        self.value = Value(f"{self.id}:0", self, 0, shape, dtype)
        return self.value


@dataclass(slots=True, eq=False)
class Call:
    """One call of a module."""

    id: str
    path: str
    module: Any
    holder: Call | None
    number: int = 1
    inputs: dict[str, Value] = field(default_factory=dict)
    outputs: dict[str, Value] = field(default_factory=dict)
    forward: Callable[..., Any] | None = None
    """The forward function that runs, to tell ``super().forward()`` from a new call."""
    is_leaf: bool = True
    """No other module was called inside."""
    is_empty: bool = True
    """Nothing was recorded inside."""
    counts: dict[str, int] = field(default_factory=dict)
    """How often each short op name was used, for ids."""
    strand: int = 0
    """As in `Op`."""
    flops: int | None = None
    """Counted out of sight, in a scripted module."""


@dataclass(slots=True, eq=False)
class Site:
    """All that calls of one function from one line with like arguments have in common: found out once."""

    name: str
    """Public name of the function."""
    short: str
    """Its last part, for ids."""
    source: str | None = None
    """``file:line`` in user code."""
    opaque: bool = False
    arguments: dict[str, Any] = field(default_factory=dict)
    """Those that are no tensors."""
    places: tuple[str, ...] = ()
    """Where each tensor goes in: ``input``, ``tensors[1]``."""
    flows: tuple[Flow | None, ...] = ()
    """What is read of each tensor; None for nothing."""


@dataclass(slots=True, eq=False)
class Op:
    """One recorded call of a torch function."""

    id: str
    site: Site
    call: Call
    strand: int
    """0 on the main thread; else which stretch of work on another thread it belongs to."""
    feeds: list[Feed]
    outputs: list[Value]
    failed: bool = False
    flops: int | None = None

    def add_output(self, shape: tuple[int | str, ...] | None, dtype: str) -> Value:
        """Append the next output."""
        n = len(self.outputs)
        value = Value(f"{self.id}:{n}", self, n, shape, dtype)
        self.outputs.append(value)
        return value


Origin: TypeAlias = Op | Source
Feed: TypeAlias = "tuple[str, Value, Flow]"
"""A value going into an op: as which argument, which value, and what is read of it."""


@dataclass(slots=True)
class Recording:
    """Everything seen during one pass, in execution order."""

    root: Call
    inputs: list[Source] = field(default_factory=list)
    steps: list[Op | Call] = field(default_factory=list)
    outputs: list[tuple[str, list[Value]]] = field(default_factory=list)
    """Place in the returned value, and what it holds (several values where parts were written separately)."""
    guesses: list[tuple[Op, Any, str]] = field(default_factory=list)
    """The op that asked, the value assumed, and why."""
    error: BaseException | None = None
    failed_at: Op | Call | None = None

    def release(self) -> None:
        """Take apart what refers to itself, so that it goes at once, and with it what the pass held."""
        for step in (self.root, *self.steps):
            step.outputs.clear()
        self.steps.clear()
        self.error = self.failed_at = None
