"""Finds the ways and the uncalled modules of a pass."""

from __future__ import annotations

import contextlib
import types
from typing import TYPE_CHECKING, Any

import msgspec
import torch
from torch import Tensor, nn

from modeldiagrams.common.user_files import is_model_code
from modeldiagrams.tracer.graph.uncalled import find_uncalled
from modeldiagrams.tracer.torch_facts.private_api import class_of
from modeldiagrams.tracer.ways.finding import Ways
from modeldiagrams.tracer.ways.observer import TraceObserver

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.tracer.values.named_tensors import NamedTensors
    from modeldiagrams.tracer.values.pass_records import ModuleCall, PassRecord
    from modeldiagrams.tracer.ways.scope import Kind

OTHER_TOOL = (
    "A debugger, coverage or a profiler watches this process's Python code, so the ways through the model's code are "
    "not known"
)
OTHER_THREADS = "Other threads were not watched: sides of branches that they took may be listed as not taken"


class PassWays(Ways):
    """What one pass left out."""

    def __init__(self) -> None:
        super().__init__(is_model_code, _Classifier(), self._running_class)
        self._running: Callable[[], ModuleCall] | None = None

    @property
    def watch(self) -> TraceObserver | None:
        """The observer, if it is to be paused while other code runs."""
        return self.observer if isinstance(self.observer, TraceObserver) else None

    def observing(self, running: Callable[[], ModuleCall]) -> AbstractContextManager[None]:
        """Observe the code that runs in the block; `running` returns the running module call."""
        self._running = running
        return contextlib.nullcontext() if self.observer is None else self.observer.observing()

    def add_to(self, graph: Graph, recording: PassRecord, weights: NamedTensors) -> Graph:
        """Add ways and uncalled modules to the graph of the pass."""
        root = recording.root.module
        owner = root.__self__ if isinstance(root, types.MethodType) else root
        uncalled = find_uncalled(owner, recording, weights) if isinstance(owner, nn.Module) else ()
        is_refused = self.observer is None or self.observer.is_refused
        ways = self.list()
        # Python 3.11's trace function is one thread's
        is_unsure = self.watch is not None and recording.has_threads and bool(ways)
        said = [*([OTHER_TOOL] if is_refused else []), *([OTHER_THREADS] if is_unsure else []), *self.faults]
        status = msgspec.structs.replace(graph.status, notes=(*graph.status.notes, *said))
        return msgspec.structs.replace(graph, ways=ways, uncalled=uncalled, status=status)

    def release(self) -> None:
        """Break reference cycles, like `PassRecord.release`."""
        super().release()
        self._running = None

    def _running_class(self) -> type | None:
        module = self._running().module if self._running is not None else None
        return class_of(module) if isinstance(module, nn.Module) else None


_FUNCTIONS = (types.BuiltinFunctionType, types.FunctionType, types.MethodDescriptorType, types.MethodType)
_OPS: Any = (type(torch.FloatTensor), type(torch.ops.aten.add), type(torch.ops.aten.add.Tensor))


class _Classifier:
    """Tells tensors, modules, their classes and torch's functions from other values; asks each class once."""

    def __init__(self) -> None:
        self._kinds: dict[type, Kind | None] = {}

    def __call__(self, value: Any) -> Kind | None:
        class_ = type(value)
        if class_ in self._kinds:
            return self._kinds[class_]
        if issubclass(class_, type):
            kind: Kind | None = "module class" if issubclass(value, nn.Module) else None
            return "torch function" if issubclass(value, Tensor) else kind
        if issubclass(class_, _FUNCTIONS):
            return "torch function" if _is_op(getattr(value, "__module__", None) or "") else None
        kind = "torch function" if issubclass(class_, _OPS) else "module" if issubclass(class_, nn.Module) else None
        self._kinds[class_] = "tensor" if issubclass(class_, Tensor) else kind
        return self._kinds[class_]


def _is_op(module: str) -> bool:
    is_quiet = module.startswith(_QUIET) and module != "torch.utils.checkpoint"
    return module.partition(".")[0] == "torch" and not is_quiet


_QUIET = tuple(
    f"torch.{part}"
    for part in ("utils", "cuda", "backends", "compiler", "jit", "autograd", "_jit", "nn.modules.module")
)
"""Parts of torch whose functions run nothing that a graph shows."""
