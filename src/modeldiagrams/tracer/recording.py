"""What a pass leaves behind while it runs: plain records, turned into a `Graph` afterwards by `finish`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.graph import Edge, Flow

__all__ = ["Call", "Feed", "Op", "Origin", "Recording", "Site", "Source", "SourceKind", "Spec", "Value"]

SourceKind: TypeAlias = Literal["input", "parameter", "buffer", "constant"]


@dataclass(slots=True, eq=False)
class Spec:
    """What a tensor looks like. Tensors that look alike share one, so that what follows from it is found out once."""

    shape: tuple[int | str, ...] | None
    """None for lazy tensors, a name for a symbolic size."""
    dtype: str
    """Without prefix."""
    nbytes: int
    """Of all elements."""


@dataclass(slots=True, eq=False)
class Value:
    """One state of one tensor. A write makes a new value; the old one stays what it was."""

    id: str
    """``node:index``, the key in `Graph.tensors`."""
    origin: Origin
    index: int
    spec: Spec
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
    outputs: list[Value] = field(default_factory=list)
    """The value, so that sources and ops can be asked alike."""
    call: Call | None = None
    """Where it was met first; only for constants without a name."""
    edges: list[Edge] = field(default_factory=list)
    """From here to ops; filled in at the end, as in `Op`."""

    def hold(self, spec: Spec) -> Value:
        """Say what it is."""
        self.value = Value(f"{self.id}:0", self, 0, spec)
        self.outputs.append(self.value)
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
    unseen_flops: int | None = None
    """Counted out of sight, in a scripted module."""
    flops: int | None = None
    """Of all ops inside, as the next: summed up at the end."""
    nbytes: int = 0
    ordinal: int = 0
    """As in `Op`."""
    place: str | None = None
    """``file:line`` in user code that it was called from."""

    def new_id(self, short: str) -> str:
        """Id of the next op of this short name."""
        counts = self.counts
        n = counts[short] = counts.get(short, 0) + 1
        return f"{self.id}/{short}" if n == 1 else f"{self.id}/{short}#{n}"

    def class_attribute(self, value: Any) -> str | None:
        """The dotted path under which this module's class, or that of one around it, holds this object, or None."""
        call: Call | None = self
        while call is not None:
            for class_ in type(call.module).__mro__:
                name = next((name for name, held in vars(class_).items() if held is value), None)
                if name is not None:
                    return f"{call.path}.{name}" if call.path else name
            call = call.holder
        return None


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
    takes_values: bool = False
    """Whether it makes a tensor of Python or numpy values."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """Those that are no tensors."""
    slots: tuple[tuple[str, Flow | None], ...] = ()
    """Where each tensor goes in (``input``, ``tensors[1]``), and what is read of it; None for nothing."""


@dataclass(slots=True, eq=False)
class Op:
    """One recorded call of a torch function."""

    id: str
    site: Site
    holder: Call
    strand: int
    """0 on the main thread; else which stretch of work on another thread it belongs to."""
    feeds: list[Feed]
    outputs: list[Value]
    edges: list[Edge]
    """From here to other ops, as the next: filled in at the end."""
    weights: dict[str, str]
    """Those that belong to it: argument → dotted name."""
    failed: bool = False
    flops: int | None = None
    nbytes: int = 0
    """New memory it took: none for views and writes into existing memory."""
    ordinal: int = 0
    """How many steps its holder took before it; filled in at the end."""

    def add_output(self, spec: Spec) -> Value:
        """Append the next output."""
        n = len(self.outputs)
        value = Value(f"{self.id}:{n}", self, n, spec)
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
    guesses: list[tuple[Op | None, Any, str]] = field(default_factory=list)
    """The op that asked, if it was one, the value assumed, and why."""
    births: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Strand → when it was started among those of where it was started, the outermost first."""
    error: BaseException | None = None
    failed_at: Op | Call | None = None

    def release(self) -> None:
        """Take apart what refers to itself, so that it goes at once, and with it what the pass held."""
        for step in (self.root, *self.steps):
            step.outputs.clear()
            if isinstance(step, Call):
                step.module = step.forward = None
        self.steps.clear()
        self.error = self.failed_at = None
