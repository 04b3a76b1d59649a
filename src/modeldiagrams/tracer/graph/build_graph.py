"""Builds a `Graph` from the record of a pass, or from the modules of a model that was not called."""

from __future__ import annotations

import functools
import platform
from typing import TYPE_CHECKING, Any

import msgspec
import torch
from torch import nn

from modeldiagrams.common.class_facts import get_full_name, get_qualified_name, readable_name
from modeldiagrams.common.version import read_version
from modeldiagrams.ir import graph as ir
from modeldiagrams.ir.ids import escape_id
from modeldiagrams.tracer.graph.extra_repr import read_attributes
from modeldiagrams.tracer.graph.kept_scopes import keep_scopes
from modeldiagrams.tracer.graph.node_order import connect_ops, place_weights
from modeldiagrams.tracer.graph.packed_weights import find_packed_weights
from modeldiagrams.tracer.graph.signatures import sign_calls, sign_scopes
from modeldiagrams.tracer.torch_facts.private_api import class_of, modules_of
from modeldiagrams.tracer.values.named_tensors import NamedTensors
from modeldiagrams.tracer.values.pass_records import GraphInput, ModuleCall, Op
from modeldiagrams.tracer.values.source_lines import class_source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from modeldiagrams.tracer.graph.node_order import Connections, Places
    from modeldiagrams.tracer.values.pass_records import InputKind, PassRecord, Spec, Value
    from modeldiagrams.tracer.values.scopes import Scope


def build_graph(recording: PassRecord, weights: NamedTensors, status: ir.Status) -> ir.Graph:
    """Build the graph of a pass, and fill in ``unseen`` of its status."""
    contents = _group_steps(recording)
    _add_up_costs(recording.steps)
    functions = keep_scopes(recording.steps, contents)
    weights.set_elements(find_packed_weights(recording, weights.inputs()))
    if not isinstance(recording.root.module, nn.Module):
        _count_what_ran(recording, weights)
    builder = _Builder(recording, connect_ops(recording), weights, sign_calls(contents))
    builder.add_nodes(place_weights(recording, builder.connections.users, functions))
    graph = ir.Graph(
        model=builder.model(),
        nodes=tuple(builder.nodes),
        adjacency=builder.adjacency(),
        hierarchy=builder.parents,
        tensors=builder.tensors,
        parameters=weights.specs(),
        functions=builder.functions(functions),
        status=msgspec.structs.replace(status, unseen=tuple(builder.unseen)),
        provenance=_provenance(),
    )
    for scope in functions:
        scope.kept = None  # it may refer to itself: break the cycle
    return graph


def _count_what_ran(recording: PassRecord, weights: NamedTensors) -> None:
    """A function has no weights of its own: its total is that of the modules it calls, and of what it reads itself."""
    called = [step.module for step in recording.steps if type(step) is ModuleCall]
    ops = [step for step in recording.steps if type(step) is Op]
    read = [value.origin for op in ops for _, value, _ in op.inputs if type(value.origin) is GraphInput]
    weights.keep_used(recording.root.module, called, read)


def module_tree(model: nn.Module, notes: tuple[str, ...]) -> ir.Graph:
    """Build a graph of state ``hierarchy``: the modules in the order of registration, without data flow.

    The notes say why there is no data flow.
    """
    weights = NamedTensors()
    weights.add_modules(modules_of(model), "")
    modules = {path: module for path, module in model.named_modules() if path}
    return ir.Graph(
        model=_model_info(model, weights),
        nodes=tuple(
            ir.ModuleNode(
                id=escape_id(path),
                path=path,
                parameters=weights.count(module),
                class_=class_,
                source=source,
                attributes=read_attributes(module),
            )
            for path, module in modules.items()
            for class_, source in [_describe_class(class_of(module))]
        ),
        adjacency={},
        hierarchy={escape_id(path): _find_parent(path, modules) for path in modules},
        tensors={},
        parameters=weights.specs(),
        status=ir.Status(state="hierarchy", notes=notes),
        provenance=_provenance(),
    )


def _find_parent(path: str, known: Collection[str]) -> str | None:
    """Id of the nearest module around a path; names may contain dots."""
    while (path := path.rpartition(".")[0]) and path not in known:
        pass
    return escape_id(path) or None


def _group_steps(recording: PassRecord) -> dict[ModuleCall, list[Op | ModuleCall]]:
    """The steps directly in each module call, outer calls first, without ops whose failure the model caught."""
    if caught := recording.failed - {recording.failed_at}:
        recording.steps = [step for step in recording.steps if step not in caught]
    contents: dict[ModuleCall, list[Op | ModuleCall]] = {recording.root: []}
    for step in recording.steps:
        siblings = contents[step.parent]  # type: ignore[index]
        step.ordinal = len(siblings)
        siblings.append(step)
        if type(step) is ModuleCall:
            contents[step] = []
    return contents


def _add_up_costs(steps: list[Op | ModuleCall]) -> None:
    """Give every module call the costs of all ops inside."""
    for step in reversed(steps):  # the steps inside a call come after it
        call: ModuleCall = step.parent  # type: ignore[assignment]
        call.nbytes += step.nbytes
        if step.flops is not None:
            call.flops = step.flops + (call.flops or 0)


class _Builder:
    """Makes the parts of the graph."""

    def __init__(
        self, recording: PassRecord, connections_: Connections, weights: NamedTensors, signatures_: dict[int, str]
    ) -> None:
        self.connections = connections_
        self.nodes: list[ir.Node] = []
        self.parents: dict[str, str | None] = {}
        self.tensors: dict[str, ir.TensorSpec] = {}
        self.unseen: list[str] = []
        """Ids of tensors of unknown origin."""
        self._recording = recording
        self._weights = weights
        self._signatures = signatures_
        self._describe_class: Callable[[Any], tuple[str, str | None]] = functools.cache(_describe_class)
        self._unnamed: Callable[[Spec], ir.TensorSpec] = functools.cache(_tensor_spec)  # equal specs share an object

    def add_nodes(self, places_: Places) -> None:
        """Add all nodes in order, with their parents and tensors."""
        recording = self._recording
        for given in recording.inputs:
            self._add_input(given, None, None)
        for step in recording.steps:
            for weight in places_.before.get(id(step), ()):
                self._add_input(weight, *places_.parents[weight])
            self._add_op(step) if type(step) is Op else self._add_module(step)
        for weight in places_.unread:
            self._add_input(weight, *places_.parents[weight])
        for name, _ in recording.outputs:
            self.nodes.append(ir.OutputNode(id=f"output:{name}", name=name))
            self.parents[f"output:{name}"] = None
        self._name_tensors()

    def _name_tensors(self) -> None:
        """Name the tensors that the model takes and returns; a tensor returned several times keeps its first name."""
        named = [(values[-1], name) for name, values in reversed(self._recording.outputs)]
        named += [(source.value, source.names[0]) for source in self._recording.inputs]
        for value, name in named:
            self.tensors[value.id] = _tensor_spec(value.spec, name)

    def model(self) -> ir.ModelInfo:
        root = self._recording.root
        return _model_info(
            root.module,
            self._weights,
            flops=root.flops,
            activation_bytes=root.nbytes,
            inputs=self._tensor_ids(root.inputs),
            outputs={name: values[-1].id for name, values in self._recording.outputs if self._is_present(values[-1])},
            signature=self._signatures.get(id(root)),
        )

    def adjacency(self) -> dict[str, tuple[ir.Edge, ...]]:
        edges = self.connections.edges
        for name, values in self._recording.outputs:
            for value in values:
                edges[value.origin.id].append(ir.Edge(to=f"output:{name}", tensor=value.id))
        return {node: tuple(edges[node]) for node in self.parents if node in edges}

    def functions(self, functions: dict[Scope, list[Op | ModuleCall]]) -> dict[str, ir.FunctionCall]:
        signed = sign_scopes(functions, self._signatures)
        return {scope.id: self._function(scope, members, signed[scope]) for scope, members in functions.items()}

    def _add_input(self, given: GraphInput, parent: ModuleCall | None, scope: Scope | None) -> None:
        name: Any = given.names[0] if given.names else None  # None for constants of unknown origin
        inside: Any = {"scope": kept} if (kept := _kept_id(scope)) else {}
        self.nodes.append(_INPUT_NODES[given.kind](id=given.id, name=name, outputs=(given.value.id,), **inside))
        self.parents[given.id] = (parent.id or None) if parent else None
        self.tensors[given.value.id] = self._unnamed(given.value.spec)
        if not given.names:
            self.unseen.append(given.value.id)

    def _add_op(self, op: Op) -> None:
        site, id_, outputs = op.site, op.id, op.outputs
        node = ir.OpNode(
            id=id_,
            name=site.function.name,
            outputs=(outputs[0].id,) if len(outputs) == 1 else tuple([value.id for value in outputs]),
            arguments=site.arguments,
            weights=self.connections.weights.get(id_) or {},
            source=site.source,
            flops=op.flops,
            activation_bytes=op.nbytes,
            opaque=site.function.opaque,
            scope=_kept_id(op.scope) if op.scope else None,
        )
        self.nodes.append(node)
        self.parents[id_] = op.parent.id or None
        for value in outputs:
            self.tensors[value.id] = self._unnamed(value.spec)

    def _add_module(self, call: ModuleCall) -> None:
        class_, source = self._describe_class(class_of(call.module))
        node = ir.ModuleNode(
            class_=class_,
            source=source,
            id=call.id,
            path=call.path,
            parameters=self._weights.count(call.module),
            call=call.number,
            attributes=read_attributes(call.module),
            inputs=self._tensor_ids(call.inputs),
            outputs=self._tensor_ids(call.outputs),
            flops=call.flops,
            activation_bytes=call.nbytes,
            signature=self._signatures.get(id(call)),
            scope=_kept_id(call.scope) if call.scope else None,
        )
        self.nodes.append(node)
        self.parents[call.id] = call.parent.id or None  # type: ignore[union-attr]

    def _function(self, scope: Scope, members: list[Op | ModuleCall], signature: str) -> ir.FunctionCall:
        around = scope.parent.kept if scope.parent else None
        flops = [member.flops for member in members if member.flops is not None]
        return ir.FunctionCall(
            id=scope.id,
            name=scope.name,
            function=scope.function,
            parent=around.id if around else members[0].parent.id or None,  # type: ignore[union-attr]
            source=scope.source,
            call_site=scope.call_site,
            inputs=self._tensor_ids(scope.inputs),
            flops=sum(flops) if flops else None,
            activation_bytes=sum(member.nbytes for member in members),
            signature=signature,
        )

    def _tensor_ids(self, values: Mapping[str, Value]) -> dict[str, str]:
        """Ids of values that are made by nodes; other values are weights shown as attributes of ops."""
        return {name: value.id for name, value in values.items() if type(value.origin) is Op or self._is_present(value)}

    def _is_present(self, value: Value) -> bool:
        origin = value.origin
        return type(origin) is Op or origin in self.connections.users or origin.kind == "input"


def _model_info(model: Any, weights: NamedTensors, **measured: Any) -> ir.ModelInfo:
    """Describe a model by its class, and a function by itself."""
    class_ = class_of(model) if isinstance(model, nn.Module) or not hasattr(model, "__qualname__") else model
    full, source = _describe_class(class_)
    return ir.ModelInfo(
        class_=full,
        source=source,
        name=readable_name(get_qualified_name(class_) if isinstance(class_, type) else class_.__qualname__),
        parameters=weights.count(model),
        attributes=read_attributes(model) if isinstance(model, nn.Module) else {},
        **measured,
    )


def _describe_class(class_: Any) -> tuple[str, str | None]:
    """Full name and source of a class or function."""
    if isinstance(class_, type):
        return get_full_name(class_), class_source(class_)
    module = getattr(class_, "__module__", None)  # missing or None for methods written in C
    name = f"{module}.{class_.__qualname__}" if module else str(class_.__qualname__)
    return name, class_source(class_)


def _tensor_spec(spec: Spec, name: str | None = None) -> ir.TensorSpec:
    return ir.TensorSpec(shape=spec.shape, dtype=spec.dtype, name=name)


def _kept_id(scope: Scope | None) -> str | None:
    """Id of the innermost function call that the graph shows around a node."""
    return scope.kept.id if scope is not None and scope.kept is not None else None


_INPUT_NODES: dict[InputKind, type[ir.InputNode | ir.ParameterNode | ir.BufferNode | ir.ConstantNode]] = {
    "input": ir.InputNode,
    "parameter": ir.ParameterNode,
    "buffer": ir.BufferNode,
    "constant": ir.ConstantNode,
}


def _provenance() -> ir.Provenance:
    return ir.Provenance(modeldiagrams=read_version(), torch=str(torch.__version__), python=platform.python_version())
