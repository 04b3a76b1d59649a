"""The parts of a `Graph`. The docstring of `graph` explains their ids and how they refer to each other."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

import msgspec

__all__ = [
    "BufferNode",
    "ConstantNode",
    "Edge",
    "Flow",
    "FunctionCall",
    "InputNode",
    "ModelInfo",
    "ModuleNode",
    "Node",
    "OpNode",
    "OutputNode",
    "ParameterCount",
    "ParameterNode",
    "Struct",
    "TensorSpec",
]

Flow: TypeAlias = Literal["data", "shape", "inferred"]
"""``data``: values flow. ``shape``: only shape, dtype or device is read. ``inferred``: values left torch (numpy,
Python numbers) and came back; the link is deduced, not observed."""


class Struct(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Immutable, without reference cycles (so the garbage collector ignores it); the JSON leaves out defaults."""


class ParameterCount(Struct, frozen=True, kw_only=True):
    """Numbers of scalar parameters of a module; a tied weight counts once."""

    own: int
    """Of the module itself."""
    total: int
    """Of the module and its descendants."""
    trainable: int
    """Part of `total` that requires a gradient."""


class ModelInfo(Struct, frozen=True, kw_only=True):
    """The traced model as a whole (the root module's call)."""

    name: str
    """Short name for titles, e.g. ``BertModel``."""
    class_: str = msgspec.field(name="class")
    """Fully qualified class, e.g. ``transformers.models.bert.modeling_bert.BertModel``."""
    parameters: ParameterCount
    flops: int | None = None
    """Floating point operations of the pass (a multiply-add counts as two); None when not counted."""
    activation_bytes: int | None = None
    """Bytes of all op outputs of the pass; None when not counted."""
    time_ns: int | None = None
    """Sum of the times of all ops; None when not measured."""
    attributes: dict[str, Any] = {}
    """The root module's parsed ``extra_repr``, as in `ModuleNode`."""
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}
    signature: str | None = None
    source: str | None = None


class InputNode(Struct, frozen=True, kw_only=True, tag="input", tag_field="kind"):
    """A tensor given to the model."""

    kind: ClassVar[Literal["input"]] = "input"
    id: str
    name: str
    """Argument name and path inside it: ``input_ids``, ``batch.mask``, ``cache[0]``."""
    outputs: tuple[str, ...] = ()
    cases: tuple[int, ...] = ()
    """Indices in `Graph.cases` of the cases in which it is; empty if it is in all that ran."""


class OutputNode(Struct, frozen=True, kw_only=True, tag="output", tag_field="kind"):
    """A tensor the model returned."""

    kind: ClassVar[Literal["output"]] = "output"
    id: str
    name: str
    """Path in the returned value: ``logits``, ``[1]``, ``past_key_values[0].keys``; ``output`` for a bare tensor."""
    cases: tuple[int, ...] = ()


class OpNode(Struct, frozen=True, kw_only=True, tag="op", tag_field="kind"):
    """A call that made or wrote tensors, or passed values out of torch."""

    kind: ClassVar[Literal["op"]] = "op"
    id: str
    name: str
    """Public name: ``torch.nn.functional.linear``, ``torch.Tensor.view``, ``mylib::my_op``."""
    outputs: tuple[str, ...] = ()
    arguments: dict[str, Any] = {}
    """Non-tensor arguments by name, or by position (``"0"``) if the name is unknown."""
    weights: dict[str, str] = {}
    """Argument → dotted name of a parameter or buffer of the leaf module this op belongs to."""
    source: str | None = None
    """``file:line`` of the call in user code; the file is relative to its import root."""
    flops: int | None = None
    activation_bytes: int | None = None
    time_ns: int | None = None
    """Wall time of the call in nanoseconds, the least of several passes. Differs from run to run."""
    opaque: bool = False
    """Whether torch hides the ops inside (scripted modules, custom autograd functions)."""
    scope: str | None = None
    """Id of the function call directly around it in its parent, a key of `Graph.functions`."""
    cases: tuple[int, ...] = ()


class ModuleNode(Struct, frozen=True, kw_only=True, tag="module", tag_field="kind"):
    """One call of a module; a module called twice has two nodes."""

    kind: ClassVar[Literal["module"]] = "module"
    id: str
    path: str
    """Dotted path from the root module."""
    class_: str = msgspec.field(name="class")
    parameters: ParameterCount
    call: int = 1
    """1 for the first call of this module in the pass, 2 for the second…"""
    attributes: dict[str, Any] = {}
    """Parsed ``extra_repr``; positional entries by position (``"0"``)."""
    inputs: dict[str, str] = {}
    """Argument name → tensor id."""
    outputs: dict[str, str] = {}
    """Path in the returned value → tensor id."""
    flops: int | None = None
    activation_bytes: int | None = None
    time_ns: int | None = None
    """Sum of the times of the ops inside."""
    signature: str | None = None
    """Structural hash of the call: equal for blocks that differ only in names and weights."""
    source: str | None = None
    """``file:line`` where the class is defined."""
    scope: str | None = None
    """Id of the function call directly around it in its parent."""
    cases: tuple[int, ...] = ()


class ParameterNode(Struct, frozen=True, kw_only=True, tag="parameter", tag_field="kind"):
    """A parameter used by an op outside the leaf module that owns it, or owned by no leaf module."""

    kind: ClassVar[Literal["parameter"]] = "parameter"
    id: str
    name: str
    """Dotted name, a key of `Graph.parameters`."""
    outputs: tuple[str, ...] = ()
    scope: str | None = None
    cases: tuple[int, ...] = ()


class BufferNode(Struct, frozen=True, kw_only=True, tag="buffer", tag_field="kind"):
    """A registered buffer used by an op outside the leaf module that owns it, or owned by no leaf module."""

    kind: ClassVar[Literal["buffer"]] = "buffer"
    id: str
    name: str
    outputs: tuple[str, ...] = ()
    scope: str | None = None
    cases: tuple[int, ...] = ()


class ConstantNode(Struct, frozen=True, kw_only=True, tag="constant", tag_field="kind"):
    """A tensor that existed before the pass and is neither input, parameter nor buffer."""

    kind: ClassVar[Literal["constant"]] = "constant"
    id: str
    name: str | None = None
    """Dotted attribute path; None if its origin is unknown."""
    outputs: tuple[str, ...] = ()
    scope: str | None = None
    cases: tuple[int, ...] = ()


Node: TypeAlias = InputNode | OutputNode | OpNode | ModuleNode | ParameterNode | BufferNode | ConstantNode


class FunctionCall(Struct, frozen=True, kw_only=True):
    """One call of a Python function that made several ops, or one ``torch.profiler.record_function`` scope.

    A group inside a module call, and not a node: parents, ids and paths are the same with and without it.
    """

    kind: ClassVar[Literal["function"]] = "function"
    id: str
    name: str
    """Short name for readers: ``apply_rotary_pos_emb``, or the text given to `record_function`."""
    function: str | None = None
    """Fully qualified name; None for a `record_function`."""
    parent: str | None = None
    """Id of the function call or module call directly around it; None under the root."""
    source: str | None = None
    """``file:line`` where the function is defined."""
    call_site: str | None = None
    """``file:line`` where it is called."""
    inputs: dict[str, str] = {}
    """Argument name and path inside it → tensor id. Files of formats before 1.3 don't tell."""
    flops: int | None = None
    activation_bytes: int | None = None
    time_ns: int | None = None
    signature: str | None = None
    """Structural hash of the call: equal for calls that compute the same."""
    cases: tuple[int, ...] = ()


class Edge(Struct, frozen=True, kw_only=True):
    """One tensor flowing into a node; the source is the key in `Graph.adjacency`."""

    to: str
    """Id of the consuming op or output."""
    tensor: str
    """Id of the tensor, an output of the source."""
    argument: str = ""
    """Argument name, or position (``"0"``, ``"0[1]"`` inside a list); empty for an output."""
    flow: Flow = "data"
    cases: tuple[int, ...] = ()


class TensorSpec(Struct, frozen=True, kw_only=True):
    """Shape, type and role of a tensor."""

    shape: tuple[int | str, ...] | None
    """Sizes; a string names a symbolic size; None for tensors without one (uninitialised)."""
    dtype: str
    """Without prefix: ``float32``, ``int64``."""
    name: str | None = None
    """Role if known: ``logits``, ``past_key_values[0].keys``."""
