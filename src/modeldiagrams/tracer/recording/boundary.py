"""What enters a pass and what leaves it: inputs, outputs, and tensors made from memory of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from modeldiagrams.tracer.recording.module_calls import argument_names, tensor_arguments
from modeldiagrams.tracer.torch_facts.nested_values import find_tensors
from modeldiagrams.tracer.values.provenance import spec_of
from modeldiagrams.tracer.values.records import CallSite, GraphInput
from modeldiagrams.tracer.values.return_names import with_return_names

if TYPE_CHECKING:
    from modeldiagrams.tracer.recording.recorder import Recorder
    from modeldiagrams.tracer.values.records import Invocation, Value


def record_inputs(recorder: Recorder, invocation: Invocation) -> None:
    """Name the tensors among the arguments."""
    recording = recorder.recording
    seen: dict[int, Value] = {}
    names = argument_names(invocation.function)
    for name, tensor in tensor_arguments(names, invocation.args, invocation.kwargs, into_objects=True):
        if id(tensor) not in seen:
            source = GraphInput("input", f"input:{name}", (name,))
            seen[id(tensor)] = source.hold(spec_of(tensor))
            recording.inputs.append(source)
            recorder.provenance.assign(tensor, source.value)
        recording.root.inputs[name] = seen[id(tensor)]


def record_outputs(recorder: Recorder, result: Any) -> None:
    """Name the tensors in what the model returned."""
    name = "output" if isinstance(result, Tensor) else ""
    # private parts of an object are its own bookkeeping, nothing the model says it returns
    found = find_tensors(result, name, into_objects=True, private=False)
    for path, tensor in with_return_names(recorder.recording.root.module, result, found):
        recorder.recording.outputs.append((path, list(recorder.values(tensor))))


def record_import(recorder: Recorder, name: str, argument: str, tensor: Tensor) -> None:
    """Record a function of `torch` that made a tensor from memory of another library, its `argument`."""
    context = recorder.context
    source = recorder.finder.current_line(context.stack, context.scopes)
    op = recorder.new_op(context, CallSite(f"torch.{name}", name, source), context.scopes.current)
    value = recorder.unknown.came_back(tensor)
    if value is not None:
        op.inputs.append((argument, value, "inferred"))
    recorder.add_output(op, tensor)
