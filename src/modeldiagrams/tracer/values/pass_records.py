"""The records of a pass, which `build_graph` turns into a `Graph`."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

import msgspec

from modeldiagrams.common.class_facts import list_bases
from modeldiagrams.ir.ids import escape_id
from modeldiagrams.tracer.values.traced_callables import modules_behind

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

    from modeldiagrams.ir.graph import Flow
    from modeldiagrams.ir.ways import QuietSide
    from modeldiagrams.tracer.torch_facts.functions import Function
    from modeldiagrams.tracer.values.scopes import Scope

InputKind: TypeAlias = Literal["input", "parameter", "buffer", "constant"]


@dataclass(frozen=True)
class Invocation:
    """A model and its arguments."""

    function: Any
    """A module, or any callable."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    opened: set[str] = field(default_factory=set)
    """Names of autograd functions that call modules, as earlier passes found: what they run is recorded."""
    quiet: set[QuietSide] = field(default_factory=set)
    """As of `Trace`, of all passes until now."""

    @functools.cached_property
    def modules(self) -> list[tuple[str, nn.Module]]:
        """As `modules_behind`."""
        return modules_behind(self.function, self.args, self.kwargs)


class _Record(msgspec.Struct, eq=False, gc=False):
    """A dataclass with slots and without ``==``, created in half the time: there are several for every op.

    Compare classes with ``type(…) is``, which is faster than a failing `isinstance`. The garbage collector tracks only
    `PassRecord`, whose `release` breaks the cycles of the others.
    """


class Spec(_Record):
    """Shape and type of a tensor. Tensors with equal ones share an object, by which derived values are cached."""

    shape: tuple[int | str, ...] | None
    """None for lazy tensors; symbolic sizes are names."""
    dtype: str
    """``float32``, without ``torch.``."""
    nbytes: int
    """Size of all elements."""


class Value(_Record):
    """One state of one tensor. A write in place makes a new value and leaves the old one unchanged."""

    id: str
    """``node:index``, the key in `Graph.tensors`."""
    origin: Origin
    index: int
    spec: Spec
    inferred: bool = False
    """It left torch and came back: its origin is deduced, not recorded."""


@final
class GraphInput(_Record):
    """A tensor that existed before the pass: an input, a weight or a constant."""

    kind: InputKind
    id: str
    names: tuple[str, ...]
    """Dotted names: several for tied weights, none where the origin is unknown."""
    outputs: list[Value] = []
    """Its only value, in a list as in `Op`."""
    call: ModuleCall | None = None
    """The first module call that used it; only for constants without a name."""

    @property
    def value(self) -> Value:
        """Its value."""
        return self.outputs[0]

    def set_id(self, id_: str) -> None:
        """Rename it before its edges are made."""
        self.id = id_
        self.value.id = f"{id_}:0"

    def set_value(self, spec: Spec) -> Value:
        """Set its value."""
        value = Value(f"{self.id}:0", self, 0, spec)
        self.outputs = [value]
        return value


@final
class ModuleCall(_Record):
    """One call of a module."""

    id: str
    path: str
    module: Any
    parent: ModuleCall | None
    number: int = 1
    source: str | None = None
    """``file:line`` of the call in user code."""
    scope: Scope | None = None
    """The function in its parent that made the call."""
    forward: Callable[..., Any] | None = None
    """The running forward function; distinguishes ``super().forward()`` from a new call."""
    inputs: dict[str, Value] = {}
    outputs: dict[str, Value] = {}
    is_leaf: bool = True
    """No other module was called inside."""
    is_empty: bool = True
    """Nothing was recorded inside."""
    counts: dict[str, int] = {}
    """Number of ops by short name, for ids."""
    unseen_cost: int | None = None
    """Cost of a scripted module, whose ops are not recorded."""
    flops: int | None = None
    """FLOPs of all ops inside; set, like `nbytes`, by `build_graph`."""
    nbytes: int = 0
    ordinal: int = 0
    """Position among the steps of its parent; set by `build_graph`."""

    def new_id(self, short: str) -> str:
        """Make the id of the next op of this short name."""
        counts = self.counts
        n = counts[short] = counts.get(short, 0) + 1
        name = f"{self.id}/{escape_id(short)}"
        return name if n == 1 else f"{name}#{n}"

    def class_attribute(self, value: Any) -> str | None:
        """Dotted path of an object that is a class attribute of the module or of a module around it; else None."""
        call: ModuleCall | None = self
        while call is not None:
            for class_ in list_bases(type(call.module)):
                name = next((name for name, held in vars(class_).items() if held is value), None)
                if name is not None:
                    return f"{call.path}.{name}" if call.path else name
            call = call.parent
        return None


class CallSite(_Record):
    """What calls of one function from one line with equal non-tensor arguments have in common."""

    function: Function
    source: str | None = None
    """``file:line`` in user code."""
    arguments: dict[str, Any] = {}
    """The arguments that are not tensors."""
    slots: Slots = ()


@final
class Op(_Record):
    """One recorded call of a torch function."""

    id: str
    site: CallSite
    parent: ModuleCall
    scope: Scope | None = None
    """The function in its parent that made the call."""
    flops: int | None = None
    inputs: list[OpInput] = []
    outputs: list[Value] = []
    nbytes: int = 0
    """New memory it allocated: 0 for views and writes in place."""
    ordinal: int = 0
    """Position among the steps of its parent; set by `build_graph`."""


Origin: TypeAlias = Op | GraphInput
Slots: TypeAlias = "tuple[tuple[str, Flow | None], ...]"
"""Argument of each tensor of a call (``input``, ``tensors[1]``), and what the op reads of it; None if nothing."""
OpInput: TypeAlias = "tuple[str, Value, Flow]"
"""Input of an op: argument, value, and what the op reads of it. A tuple, because there is one for every edge."""


class PassRecord(_Record, gc=True):
    """Everything recorded during one pass, in execution order."""

    root: ModuleCall
    inputs: list[GraphInput] = []
    steps: list[Op | ModuleCall] = []
    outputs: list[tuple[str, list[Value]]] = []
    """Path in the returned value, and the values there: several if parts were written separately."""
    guesses: list[tuple[Op | None, Any, str]] = []
    """The op that needed a value (None outside ops), the assumed value, and the reason."""
    has_threads: bool = False
    """Whether ops ran on other threads than the main one."""
    failed: set[Op | ModuleCall] = set()
    """Ops that raised an exception."""
    error: BaseException | None = None
    failed_at: Op | ModuleCall | None = None
    fault: tuple[str, ModuleCall] | None = None
    """The first fault of the tracer, and the module call in which it happened, even if the model caught it."""

    def has_calls_since(self, parent: ModuleCall, start: int) -> bool:
        """Whether a module call directly inside another one is among the steps from `start` on."""
        return any(type(step) is ModuleCall and step.parent is parent for step in self.steps[start:])

    def add_guesses(self, op: Op | None, guesses: list[tuple[Any, str]]) -> None:
        """Take over the guesses made during a call."""
        self.guesses += [(op, value, reason) for value, reason in guesses]
        guesses.clear()

    def fail(self, error: BaseException, where: Op | ModuleCall) -> None:
        """Keep an exception with its innermost step, or with that of the exception it replaced."""
        if self.error is error:
            return
        if self.error is None or self.error not in (error.__cause__, error.__context__):
            self.failed_at = where
        self.error = error

    def clear_error(self) -> None:
        """Forget an exception that the model caught itself."""
        self.error = self.failed_at = None

    def release(self) -> None:
        """Break reference cycles, to free memory although garbage collection is off during a trace."""
        for step in (self.root, *self.inputs, *self.steps):
            step.outputs.clear()
            if type(step) is ModuleCall:
                step.module = step.forward = None
        self.steps.clear()
        self.failed.clear()
        self.error = self.failed_at = self.fault = None
