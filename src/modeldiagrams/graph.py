"""The intermediate format: what one forward pass did, as plain frozen data.

A `Graph` has two views of the same pass: *adjacency* (which tensor flows from where to where) and *hierarchy*
(which module call holds what). It cannot trace, lay out or draw itself.

Ids are readable and local, so a change inside one block never renames another block's nodes:

====================  =============================================  ==========================
what                  id                                             example
====================  =============================================  ==========================
module call           dotted path, ``#n`` from the second call on    ``encoder.layers.0#2``
op                    holder's id, ``/``, short name, ``#n``         ``encoder.layers.0/add#2``
input, output         ``input:`` or ``output:`` and the name         ``input:batch.mask``
parameter, buffer     its kind, ``:``, the dotted name               ``parameter:cls_token``
constant              ``constant:`` and the attribute's dotted name, ``constant:scale``
                      or as an op where it has no name
tensor                producer's id, ``:``, index of the output      ``encoder.layers.0/add#2:0``
====================  =============================================  ==========================

The root module's call has no node: its path is empty, ops directly inside it are ``/add``, and their holder in
`Graph.hierarchy` is None.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from modeldiagrams.errors import GraphError

__all__ = [
    "FORMAT",
    "VERSION",
    "Assumption",
    "BufferNode",
    "ConstantNode",
    "Edge",
    "Failure",
    "Flow",
    "Frame",
    "Graph",
    "Guess",
    "InputNode",
    "ModelInfo",
    "ModuleNode",
    "Node",
    "OpNode",
    "OutputNode",
    "ParameterCount",
    "ParameterNode",
    "ParameterSpec",
    "Provenance",
    "Status",
    "TensorSpec",
]

FORMAT: Literal["modeldiagrams"] = "modeldiagrams"
VERSION = "1.0"

Flow: TypeAlias = Literal["data", "shape", "inferred"]
"""``data``: values flow. ``shape``: only shape, dtype or device is read. ``inferred``: values left torch (numpy,
Python numbers) and came back; the link is deduced, not observed."""


class _Struct(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Shared behaviour: immutable, defaults left out of the JSON; `kw_only` is not inherited.

    Plain data holds nothing that holds it again, so the garbage collector need not look at it.
    """


class ParameterCount(_Struct, frozen=True, kw_only=True):
    """Numbers of scalar parameters of a module; a tied weight counts once."""

    own: int
    """Held by the module itself."""
    total: int
    """Held by the module and everything below it."""
    trainable: int
    """Those of `total` that require a gradient."""


class ModelInfo(_Struct, frozen=True, kw_only=True):
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
    attributes: dict[str, Any] = {}
    """The root module's parsed ``extra_repr``, as in `ModuleNode`."""
    inputs: dict[str, str] = {}
    """Argument name → tensor id."""
    outputs: dict[str, str] = {}
    """Place in the returned value → tensor id."""
    signature: str | None = None
    source: str | None = None


class InputNode(_Struct, frozen=True, kw_only=True, tag="input", tag_field="kind"):
    """A tensor given to the model."""

    id: str
    name: str
    """Argument name and place inside it: ``input_ids``, ``batch.mask``, ``cache[0]``."""
    outputs: tuple[str, ...] = ()


class OutputNode(_Struct, frozen=True, kw_only=True, tag="output", tag_field="kind"):
    """A tensor the model returned."""

    id: str
    name: str
    """Place in the returned value: ``logits``, ``[1]``, ``past_key_values[0].keys``; ``output`` for a bare tensor."""


class OpNode(_Struct, frozen=True, kw_only=True, tag="op", tag_field="kind"):
    """A call that made or wrote tensors, or took values out of torch."""

    id: str
    name: str
    """Public name: ``torch.nn.functional.linear``, ``torch.Tensor.view``, ``mylib::my_op``."""
    outputs: tuple[str, ...] = ()
    arguments: dict[str, Any] = {}
    """Non-tensor arguments by name, or by position (``"0"``) where the name is not known."""
    weights: dict[str, str] = {}
    """Argument → dotted name of a parameter or buffer of the leaf module this op belongs to."""
    source: str | None = None
    """``file:line`` of the call in user code; the file is relative to its import root."""
    flops: int | None = None
    activation_bytes: int | None = None
    opaque: bool = False
    """True when torch ran it without showing what is inside (scripted modules, custom autograd functions)."""


class ModuleNode(_Struct, frozen=True, kw_only=True, tag="module", tag_field="kind"):
    """One call of a module; a module called twice has two nodes."""

    id: str
    path: str
    """Dotted path from the root module."""
    class_: str = msgspec.field(name="class")
    """Fully qualified class name."""
    parameters: ParameterCount
    call: int = 1
    """1 for the first call of this module in the pass, 2 for the second…"""
    attributes: dict[str, Any] = {}
    """Parsed ``extra_repr``; positional entries by position (``"0"``)."""
    inputs: dict[str, str] = {}
    """Argument name → tensor id."""
    outputs: dict[str, str] = {}
    """Place in the returned value → tensor id."""
    flops: int | None = None
    activation_bytes: int | None = None
    signature: str | None = None
    """Structural hash of what happened inside: equal for identical blocks whatever their names and weights."""
    source: str | None = None
    """``file:line`` where the class is defined."""


class ParameterNode(_Struct, frozen=True, kw_only=True, tag="parameter", tag_field="kind"):
    """A bare `torch.nn.Parameter` used by an op outside a leaf module of its own."""

    id: str
    name: str
    """Dotted name, a key of `Graph.parameters`."""
    outputs: tuple[str, ...] = ()


class BufferNode(_Struct, frozen=True, kw_only=True, tag="buffer", tag_field="kind"):
    """A registered buffer used by an op outside a leaf module of its own."""

    id: str
    name: str
    """Dotted name, a key of `Graph.parameters`."""
    outputs: tuple[str, ...] = ()


class ConstantNode(_Struct, frozen=True, kw_only=True, tag="constant", tag_field="kind"):
    """A tensor that existed before the pass and is neither input, parameter nor buffer."""

    id: str
    name: str | None = None
    """Dotted attribute path where it was found; None where its origin was not seen."""
    outputs: tuple[str, ...] = ()


Node: TypeAlias = InputNode | OutputNode | OpNode | ModuleNode | ParameterNode | BufferNode | ConstantNode


class Edge(_Struct, frozen=True, kw_only=True):
    """One tensor flowing into a node; the source is the key in `Graph.adjacency`."""

    to: str
    """Id of the consuming op or output."""
    tensor: str
    """Id of the tensor, an output of the source."""
    argument: str = ""
    """Where it goes in: argument name, or position (``"0"``, ``"0[1]"`` inside a list); empty for an output."""
    flow: Flow = "data"


class TensorSpec(_Struct, frozen=True, kw_only=True):
    """What is known of a tensor."""

    shape: tuple[int | str, ...] | None
    """Sizes; a string names a symbolic size; None for tensors without one (uninitialised)."""
    dtype: str
    """Without prefix: ``float32``, ``int64``."""
    name: str | None = None
    """Role where known: ``logits``, ``past_key_values[0].keys``."""


class ParameterSpec(_Struct, frozen=True, kw_only=True):
    """A parameter or buffer of the model."""

    shape: tuple[int, ...] | None
    """Sizes; None for lazy parameters that were never initialised."""
    dtype: str
    owner: str
    """Dotted path of the module that holds it (empty for the root)."""
    kind: Literal["parameter", "buffer"] = "parameter"
    trainable: bool = True
    """False for frozen parameters and for buffers."""
    tied: tuple[str, ...] = ()
    """Other dotted names of the very same tensor."""


class Frame(_Struct, frozen=True, kw_only=True):
    """One line of user code on the way to a failure."""

    file: str
    line: int
    function: str
    code: str = ""


class Failure(_Struct, frozen=True, kw_only=True):
    """What the model raised."""

    type: str
    message: str
    node: str | None = None
    """Id of the op, or else the module call, where it happened."""
    frames: tuple[Frame, ...] = ()
    """User-code frames, innermost last."""


class Guess(_Struct, frozen=True, kw_only=True):
    """A value the trace had to assume where Python asked for numbers that were not computed."""

    node: str | None
    """The op that asked; None where none did (an f-string)."""
    value: Any
    reason: str


class Status(_Struct, frozen=True, kw_only=True):
    """How much of the pass the graph holds."""

    state: Literal["complete", "partial", "hierarchy"]
    """``partial``: the forward raised. ``hierarchy``: module tree only, no pass was run."""
    mode: Literal["real", "fake", "meta"] | None = None
    """How values were computed; None for ``hierarchy``."""
    error: Failure | None = None
    unseen: tuple[str, ...] = ()
    """Ids of tensors whose origin the tracer did not see."""
    guesses: tuple[Guess, ...] = ()
    notes: tuple[str, ...] = ()
    """Plain sentences for the reader, e.g. why real execution was used."""


class Assumption(_Struct, frozen=True, kw_only=True):
    """Something the author did not say and the tool filled in."""

    subject: str
    """What it is about: ``inputs.input_ids``, ``args.num_classes``, ``rule``."""
    value: str
    reason: str


class Provenance(_Struct, frozen=True, kw_only=True):
    """What made the graph. Not part of its digest and ignored by comparisons."""

    modeldiagrams: str
    torch: str | None = None
    python: str | None = None


class Graph(_Struct, frozen=True, kw_only=True, omit_defaults=False):
    """One forward pass of one model. See the module's docstring for the ids."""

    format: Literal["modeldiagrams"] = FORMAT
    version: str = VERSION
    model: ModelInfo
    nodes: tuple[Node, ...]
    """In execution order; a module call stands before everything inside it."""
    adjacency: dict[str, tuple[Edge, ...]]
    """Node id → what flows out of it. Nodes that feed nothing are left out."""
    hierarchy: dict[str, str | None]
    """Node id → id of the module call that holds it; None directly under the root."""
    tensors: dict[str, TensorSpec]
    parameters: dict[str, ParameterSpec]
    status: Status
    assumptions: tuple[Assumption, ...] = ()
    provenance: Provenance

    def check(self) -> None:
        """Prove that every reference holds.

        Raises:
            GraphError: naming the first broken place as a JSON path.
        """
        nodes = _check_nodes(self)
        _check_hierarchy(self, nodes)
        _check_edges(self, nodes)
        _check_references(self, nodes)


def _check_nodes(graph: Graph) -> dict[str, Node]:
    """Ids are unique and every tensor has one producer. Returns the nodes by id."""
    nodes: dict[str, Node] = {}
    produced: dict[str, str] = {}  # tensor → the node that makes it
    for i, node in enumerate(graph.nodes):
        if node.id in nodes:
            raise GraphError(f"$.nodes[{i}].id", f"expected a unique id, got {node.id!r} a second time")
        nodes[node.id] = node
        if isinstance(node, OutputNode | ModuleNode):
            continue
        for j, tensor in enumerate(node.outputs):
            place = f"$.nodes[{i}].outputs[{j}]"
            if tensor not in graph.tensors:
                raise GraphError(place, f"expected a key of $.tensors, got {tensor!r}")
            if tensor in produced:
                raise GraphError(place, f"tensor {tensor!r} is already made by node {produced[tensor]!r}")
            produced[tensor] = node.id
    for tensor in graph.tensors:
        if tensor not in produced:
            raise GraphError(f"$.tensors[{tensor!r}]", "expected a node that lists this tensor in its outputs")
    return nodes


def _check_hierarchy(graph: Graph, nodes: dict[str, Node]) -> None:
    """Every node has a holder that is a module call opened before it (so there are no cycles)."""
    opened: set[str] = set()
    for i, node in enumerate(graph.nodes):
        place = f"$.hierarchy[{node.id!r}]"
        if node.id not in graph.hierarchy:
            raise GraphError(place, f"missing: expected the holder of $.nodes[{i}], or null at the root")
        holder = graph.hierarchy[node.id]
        if holder is not None and holder not in opened:
            raise GraphError(place, f"expected a module call listed before the node, got {holder!r}")
        if isinstance(node, ModuleNode):
            opened.add(node.id)
    for key in graph.hierarchy:
        if key not in nodes:
            raise GraphError(f"$.hierarchy[{key!r}]", "no such node")


def _check_edges(graph: Graph, nodes: dict[str, Node]) -> None:
    """Edges join existing nodes forward in execution order and carry a tensor their source makes."""
    order = {node.id: i for i, node in enumerate(graph.nodes)}
    for source, edges in graph.adjacency.items():
        place = f"$.adjacency[{source!r}]"
        node = nodes.get(source)
        if node is None:
            raise GraphError(place, "no such node")
        if isinstance(node, OutputNode | ModuleNode):
            raise GraphError(place, f"a node of kind {_kind(node)!r} has no outgoing edges; edges run between ops")
        for i, edge in enumerate(edges):
            target = nodes.get(edge.to)
            if target is None:
                raise GraphError(f"{place}[{i}].to", f"no such node: {edge.to!r}")
            if not isinstance(target, OpNode | OutputNode):
                raise GraphError(f"{place}[{i}].to", f"expected an op or output, got kind {_kind(target)!r}")
            if order[edge.to] <= order[source]:
                raise GraphError(f"{place}[{i}].to", f"{edge.to!r} ran before {source!r}; edges run forward")
            if edge.tensor not in node.outputs:
                raise GraphError(f"{place}[{i}].tensor", f"{source!r} does not make {edge.tensor!r}")


def _check_references(graph: Graph, nodes: dict[str, Node]) -> None:
    """Weights, module inputs and outputs, ties and the status name things that exist."""
    _check_tensor_names(graph, "$.model", graph.model)
    for i, node in enumerate(graph.nodes):
        if isinstance(node, OpNode):
            for argument, weight in node.weights.items():
                _check_parameter(graph, f"$.nodes[{i}].weights[{argument!r}]", weight)
        elif isinstance(node, ParameterNode | BufferNode):
            _check_parameter(graph, f"$.nodes[{i}].name", node.name)
        elif isinstance(node, ModuleNode):
            _check_tensor_names(graph, f"$.nodes[{i}]", node)
    for name, spec in graph.parameters.items():
        for i, other in enumerate(spec.tied):
            _check_parameter(graph, f"$.parameters[{name!r}].tied[{i}]", other)
    _check_status(graph, nodes)


def _check_status(graph: Graph, nodes: dict[str, Node]) -> None:
    for i, tensor in enumerate(graph.status.unseen):
        if tensor not in graph.tensors:
            raise GraphError(f"$.status.unseen[{i}]", f"no such tensor: {tensor!r}")
    for i, guess in enumerate(graph.status.guesses):
        if guess.node is not None and guess.node not in nodes:
            raise GraphError(f"$.status.guesses[{i}].node", f"no such node: {guess.node!r}")
    error = graph.status.error
    if (error is not None) != (graph.status.state == "partial"):
        raise GraphError("$.status", "state 'partial' and an error belong together; got one without the other")
    if error is not None and error.node is not None and error.node not in nodes:
        raise GraphError("$.status.error.node", f"no such node: {error.node!r}")


def _check_parameter(graph: Graph, place: str, name: str) -> None:
    if name not in graph.parameters:
        raise GraphError(place, f"no such parameter: {name!r}")


def _check_tensor_names(graph: Graph, place: str, call: ModelInfo | ModuleNode) -> None:
    for key, names in (("inputs", call.inputs), ("outputs", call.outputs)):
        for name, tensor in names.items():
            if tensor not in graph.tensors:
                raise GraphError(f"{place}.{key}[{name!r}]", f"no such tensor: {tensor!r}")


def _kind(node: Node) -> str:
    return str(node.__struct_config__.tag)
