"""Tensors whose making was not recorded: constants, and values that left torch and came back."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from torch import Tensor

from modeldiagrams.tracer.torch_facts.private_api import unseen_by_modes
from modeldiagrams.tracer.values.provenance import spec_of
from modeldiagrams.tracer.values.records import GraphInput, Spec, Value

if TYPE_CHECKING:
    from modeldiagrams.tracer.recording.thread_context import ThreadContexts
    from modeldiagrams.tracer.values.provenance import Provenance
    from modeldiagrams.tracer.values.records import Op
    from modeldiagrams.tracer.values.source_lines import SourceFinder


class UnknownTensors:
    """Finds the likely origin of tensors that no recorded op made."""

    def __init__(self, provenance: Provenance, finder: SourceFinder, threads: ThreadContexts) -> None:
        self._provenance = provenance
        self._finder = finder
        self._threads = threads
        self._lock = threading.RLock()
        """Held while a tensor gets a value: several threads may meet the same one."""

    def value(self, tensor: Tensor) -> Value:
        """The value of a tensor: one that left torch earlier if there is one, else a constant."""
        with self._lock:
            if values := self._provenance.values(tensor):  # another thread was faster
                return values[0]
            value = self.came_back(tensor) or self._constant(tensor)
            self._provenance.assign(tensor, value)
            return value

    def came_back(self, tensor: Tensor) -> Value | None:
        """A new output of the op through which the tensor's values probably left torch."""
        context = self._threads.context
        read = self._provenance.exporter(tensor)
        if read is None and context.array_read is not None and context.array_read.parent in context.stack:
            read = context.array_read
        return None if read is None else _inferred_output(read, spec_of(tensor))

    def add_python_input(self, op: Op) -> None:
        """Connect an op that makes a tensor of Python numbers with the last read of values in its module call."""
        read = self._threads.context.array_read
        if read is not None and read.parent is op.parent:
            op.inputs.append(("", _inferred_output(read, Spec((), "float32", 4)), "inferred"))

    def _constant(self, tensor: Tensor) -> Value:
        """A tensor from before the pass: of a class, a global variable, or of unknown origin."""
        call = self._threads.context.stack[-1]
        name = call.class_attribute(tensor) or self._finder.global_name(tensor)
        if name is not None:
            return GraphInput("constant", f"constant:{name}", (name,)).hold(spec_of(tensor))
        with unseen_by_modes():
            constructor = Tensor.type(tensor).rpartition(".")[2]  # no mode sees ``torch.IntTensor([1, 2])``
        if tensor.grad_fn is None and self._finder.mentions(constructor):
            constant = GraphInput("constant", call.new_id(constructor), (f"torch.{constructor}",))
        else:
            constant = GraphInput("constant", call.new_id("constant"), ())
        constant.call = call
        return constant.hold(spec_of(tensor))


def _inferred_output(read: Op, spec: Spec) -> Value:
    n = len(read.outputs)
    value = Value(f"{read.id}:{n}", read, n, spec, inferred=True)
    read.outputs.append(value)
    return value
