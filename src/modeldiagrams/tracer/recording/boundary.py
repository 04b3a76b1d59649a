"""Records what enters and leaves a pass: inputs, outputs, and tensors made from memory of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from modeldiagrams.tracer.recording.module_calls import argument_names, find_tensor_arguments
from modeldiagrams.tracer.torch_facts.functions import Function
from modeldiagrams.tracer.torch_facts.nested_values import find_tensors
from modeldiagrams.tracer.values.pass_records import CallSite, GraphInput
from modeldiagrams.tracer.values.return_names import apply_return_names
from modeldiagrams.tracer.values.value_tracker import spec_of

if TYPE_CHECKING:
    from modeldiagrams.tracer.recording.op_recorder import OpRecorder
    from modeldiagrams.tracer.values.pass_records import Invocation, Value


def record_inputs(recorder: OpRecorder, invocation: Invocation) -> None:
    """Name the tensors among the arguments."""
    recording = recorder.recording
    seen: dict[int, Value] = {}
    names = argument_names(invocation.function)
    for name, tensor in find_tensor_arguments(names, invocation.args, invocation.kwargs, into_objects=True):
        if id(tensor) not in seen:
            source = GraphInput("input", f"input:{name}", (name,))
            seen[id(tensor)] = source.set_value(spec_of(tensor))
            recording.inputs.append(source)
            recorder.tracker.assign(tensor, source.value)
            if recorder.on_value is not None:
                recorder.on_value(source.value, tensor)
        recording.root.inputs[name] = seen[id(tensor)]


def record_outputs(recorder: OpRecorder, result: Any) -> None:
    """Name the tensors in what the model returned."""
    name = "output" if isinstance(result, Tensor) else ""
    # private attributes of an object are its own bookkeeping, not results
    found = find_tensors(result, name, into_objects=True, private=False)
    for path, tensor in apply_return_names(recorder.recording.root.module, result, found):
        recorder.recording.outputs.append((path, list(recorder.values(tensor))))


def record_import(recorder: OpRecorder, name: str, argument: str, tensor: Tensor) -> None:
    """Record a function of torch that made a tensor from another library's memory, passed as `argument`."""
    context = recorder.context
    source = recorder.finder.current_line(context.stack, context.scopes)
    op = recorder.add_op(context, CallSite(Function(f"torch.{name}", name, ""), source), context.scopes.current)
    value = recorder.unknown.find_returned_value(tensor)
    if value is not None:
        op.inputs.append((argument, value, "inferred"))
    recorder.add_output(op, tensor)
