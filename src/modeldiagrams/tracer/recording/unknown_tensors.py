"""Tensors that no recorded op made: constants, and values that left torch and came back."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from torch import Tensor, nn

from modeldiagrams.tracer.torch_facts.private_api import own_parameters, unseen_by_modes
from modeldiagrams.tracer.values.pass_records import GraphInput, Spec, Value
from modeldiagrams.tracer.values.value_tracker import spec_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.tracer.recording.thread_context import ThreadContexts
    from modeldiagrams.tracer.values.pass_records import Op
    from modeldiagrams.tracer.values.source_lines import SourceFinder
    from modeldiagrams.tracer.values.value_tracker import ValueTracker


class UnknownTensors:
    """Finds the likely origin of tensors that no recorded op made."""

    def __init__(self, tracker: ValueTracker, finder: SourceFinder, threads: ThreadContexts) -> None:
        self._tracker = tracker
        self._finder = finder
        self._threads = threads
        self.find_weight: Callable[[str], GraphInput | None] = lambda _: None
        """Returns the weight of a dotted name; set by `CallStack`."""
        self._lock = threading.RLock()
        """Held while a tensor gets a value, because several threads may use the same tensor."""

    def find_value(self, tensor: Tensor) -> Value:
        """The value of a tensor: one that left torch earlier, or else a new constant."""
        with self._lock:
            if values := self._tracker.values(tensor):  # another thread was faster
                return values[0]
            value = (
                self._find_replaced_weight(tensor) or self.find_returned_value(tensor) or self._make_constant(tensor)
            )
            self._tracker.assign(tensor, value)
            return value

    def _find_replaced_weight(self, tensor: Tensor) -> Value | None:
        """The value of the weight in whose place a running module has this one: FSDP gathers weights in hooks."""
        for call in reversed(self._threads.context.stack):
            if isinstance(call.module, nn.Module):
                names = [name for name, held in own_parameters(call.module).items() if held is tensor]
                weight = self.find_weight(f"{call.path}.{names[0]}" if call.path else names[0]) if names else None
                if weight is not None:
                    return weight.value
        return None

    def find_returned_value(self, tensor: Tensor) -> Value | None:
        """Add an output to the op through which the tensor's values probably left torch, if there is one."""
        context = self._threads.context
        read = self._tracker.find_exporter(tensor)
        if read is None and context.array_read is not None and context.array_read.parent in context.stack:
            read = context.array_read
        return None if read is None else _inferred_output(read, spec_of(tensor))

    def add_python_input(self, op: Op) -> None:
        """Connect an op that makes a tensor of Python numbers to the last read of values in its module call."""
        read = self._threads.context.array_read
        if read is not None and read.parent is op.parent:
            op.inputs.append(("", _inferred_output(read, Spec((), "float32", 4)), "inferred"))

    def _make_constant(self, tensor: Tensor) -> Value:
        """Make a constant for a tensor from before the pass, named by its class attribute or global variable."""
        call = self._threads.context.stack[-1]
        name = call.class_attribute(tensor) or self._finder.global_name(tensor)
        if name is not None:
            return GraphInput("constant", f"constant:{name}", (name,)).set_value(spec_of(tensor))
        with unseen_by_modes():
            constructor = Tensor.type(tensor).rpartition(".")[2]  # modes don't see ``torch.IntTensor([1, 2])``
        if tensor.grad_fn is None and self._finder.mentions(constructor):
            constant = GraphInput("constant", call.new_id(constructor), (f"torch.{constructor}",))
        else:
            constant = GraphInput("constant", call.new_id("constant"), ())
        constant.call = call
        return constant.set_value(spec_of(tensor))


def _inferred_output(read: Op, spec: Spec) -> Value:
    n = len(read.outputs)
    value = Value(f"{read.id}:{n}", read, n, spec, inferred=True)
    read.outputs.append(value)
    return value
