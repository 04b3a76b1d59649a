"""What a pass leaves behind while it runs: plain records, turned into a `Graph` afterwards by `finish`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.graph import Flow

__all__ = ["Call", "Feed", "Op", "Origin", "Recording", "Source", "SourceKind", "Value"]

SourceKind: TypeAlias = Literal["input", "parameter", "buffer", "constant"]


@dataclass(slots=True, eq=False)
class Value:
    """One state of one tensor. A write makes a new value; the old one stays what it was."""

    origin: Origin
    index: int
    shape: tuple[int | str, ...] | None
    dtype: str
    nbytes: int = 0
    """New memory this value took: 0 for views and writes into existing memory."""
    inferred: bool = False
    """It left torch and came back: where it came from is deduced, not seen."""

    @property
    def id(self) -> str:
        """``node:index``, the key in `Graph.tensors`."""
        return f"{self.origin.id}:{self.index}"


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


@dataclass(slots=True, eq=False)
class Feed:
    """A value going into an op."""

    argument: str
    value: Value
    flow: Flow = "data"


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
class Op:
    """One recorded call of a torch function."""

    id: str
    name: str
    call: Call
    feeds: list[Feed] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    arguments: dict[str, Any] = field(default_factory=dict)
    source: str | None = None
    opaque: bool = False
    failed: bool = False
    flops: int | None = None
    strand: int = 0
    """0 on the main thread; else which stretch of work on another thread it belongs to."""

    def add_output(self, shape: tuple[int | str, ...] | None, dtype: str) -> Value:
        """Append the next output."""
        value = Value(self, len(self.outputs), shape, dtype)
        self.outputs.append(value)
        return value


Origin: TypeAlias = Op | Source


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
