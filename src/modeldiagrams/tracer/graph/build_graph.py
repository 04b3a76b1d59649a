"""Builds a `Graph` from a recording, or from a model that was not called."""

from __future__ import annotations

import functools
import platform
from typing import TYPE_CHECKING, Any

import msgspec
import torch
from torch import nn

from modeldiagrams.common.class_facts import full_name, qualified_name
from modeldiagrams.common.version import own_version
from modeldiagrams.ir import graph as ir
from modeldiagrams.tracer.graph.extra_repr import attributes
from modeldiagrams.tracer.graph.node_order import node_order
from modeldiagrams.tracer.graph.signatures import scope_signatures, signatures
from modeldiagrams.tracer.torch_facts.private_api import modules_of
from modeldiagrams.tracer.values.named_tensors import NamedTensors
from modeldiagrams.tracer.values.records import GraphInput, ModuleCall, Op
from modeldiagrams.tracer.values.source_lines import class_source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from modeldiagrams.tracer.graph.node_order import NodeOrder, Step
    from modeldiagrams.tracer.values.records import InputKind, Recording, Spec, Value
    from modeldiagrams.tracer.values.scopes import Scope


def build_graph(recording: Recording, weights: NamedTensors, status: ir.Status) -> ir.Graph:
    """The graph of a pass, which passes `check_graph`; ``unseen`` of the status is filled in here."""
    contents = _contents(recording)
    _add_up_costs(recording.steps)
    builder = _Builder(recording, node_order(recording, contents), weights, signatures(contents))
    return ir.Graph(
        model=builder.model(),
        nodes=tuple(builder.nodes()),
        adjacency=builder.adjacency(),
        hierarchy=builder.hierarchy(),
        tensors=builder.tensors(),
        parameters=weights.specs(),
        functions=builder.functions(),
        status=builder.status(status),
        provenance=_provenance(),
    )


def module_tree(model: nn.Module, notes: tuple[str, ...]) -> ir.Graph:
    """A graph of the modules in the order of their registration, as if each were called once.

    The notes say why there is no data flow; its state is ``hierarchy``.
    """
    weights = NamedTensors()
    weights.add_modules(modules_of(model), "")
    modules = {path: module for path, module in model.named_modules() if path}
    return ir.Graph(
        model=_model_info(model, weights),
        nodes=tuple(
            ir.ModuleNode(
                id=path,
                path=path,
                parameters=weights.count(module),
                **_about(type(module)),
                attributes=attributes(module),
            )
            for path, module in modules.items()
        ),
        adjacency={},
        hierarchy={path: _parent(path, modules) for path in modules},
        tensors={},
        parameters=weights.specs(),
        status=ir.Status(state="hierarchy", notes=notes),
        provenance=_provenance(),
    )


def _parent(path: str, known: Collection[str]) -> str | None:
    """Path of the nearest module around it; names may contain dots."""
    while (path := path.rpartition(".")[0]) and path not in known:
        pass
    return path or None


def _contents(recording: Recording) -> dict[ModuleCall, list[Op | ModuleCall]]:
    """What is directly in each module call, an outer call first; without the ops whose failure the model caught."""
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
    """Add the costs of every op to all module calls around it."""
    for step in reversed(steps):  # a module call comes before what runs inside it
        parent = step.parent
        if parent is not None:
            parent.nbytes += step.nbytes
            if step.flops is not None:
                parent.flops = (parent.flops or 0) + step.flops


class _Builder:
    """Writes the parts of the graph."""

    def __init__(
        self, recording: Recording, order: NodeOrder, weights: NamedTensors, signatures_: dict[int, str]
    ) -> None:
        self._recording = recording
        self._order = order
        self._weights = weights
        self._signatures = signatures_
        self._about: Callable[[Any], dict[str, Any]] = functools.cache(_about)

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

    def nodes(self) -> list[ir.Node]:
        nodes = [self._node(step) for step in self._order.steps]
        nodes += [ir.OutputNode(id=f"output:{name}", name=name) for name, _ in self._recording.outputs]
        return nodes

    def adjacency(self) -> dict[str, tuple[ir.Edge, ...]]:
        edges = self._order.edges
        for name, values in self._recording.outputs:
            for value in values:
                edges[value.origin.id].append(ir.Edge(to=f"output:{name}", tensor=value.id))
        return {node: tuple(edges[node]) for node in self._order.parents if node in edges}

    def hierarchy(self) -> dict[str, str | None]:
        return {**self._order.parents, **{f"output:{name}": None for name, _ in self._recording.outputs}}

    def tensors(self) -> dict[str, ir.TensorSpec]:
        roles = {values[-1]: name for name, values in reversed(self._recording.outputs)}
        roles.update((source.value, source.names[0]) for source in self._recording.inputs)
        unnamed = functools.cache(_tensor_spec)  # equal ones share an object
        return {
            value.id: _tensor_spec(value.spec, roles[value]) if value in roles else unnamed(value.spec)
            for step in self._order.steps
            if type(step) is not ModuleCall
            for value in step.outputs
        }

    def functions(self) -> dict[str, ir.FunctionCall]:
        functions = self._order.functions
        signed = scope_signatures(functions, self._signatures)
        return {scope.id: self._function(scope, members, signed[scope]) for scope, members in functions.items()}

    def status(self, status: ir.Status) -> ir.Status:
        unseen = tuple(s.value.id for s in self._order.steps if type(s) is GraphInput and not s.names)
        return msgspec.structs.replace(status, unseen=unseen)

    def _node(self, step: Step) -> ir.Node:
        if type(step) is Op:
            return self._op(step)
        if type(step) is ModuleCall:
            return self._module(step)
        return _graph_input_node(step, self._order.scopes.get(step.id))

    def _op(self, op: Op) -> ir.OpNode:
        site = op.site
        return ir.OpNode(
            id=op.id,
            name=site.name,
            outputs=tuple([value.id for value in op.outputs]),
            arguments=site.arguments,
            weights=self._order.weights.get(op.id) or {},
            source=site.source,
            flops=op.flops,
            activation_bytes=op.nbytes,
            opaque=site.opaque,
            scope=self._order.scopes.get(op.id),
        )

    def _module(self, call: ModuleCall) -> ir.ModuleNode:
        return ir.ModuleNode(
            **self._about(type(call.module)),
            id=call.id,
            path=call.path,
            parameters=self._weights.count(call.module),
            call=call.number,
            attributes=attributes(call.module),
            inputs=self._tensor_ids(call.inputs),
            outputs=self._tensor_ids(call.outputs),
            flops=call.flops,
            activation_bytes=call.nbytes,
            signature=self._signatures.get(id(call)),
            scope=self._order.scopes.get(call.id),
        )

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
        """Ids of values that nodes make; the others are weights shown as attributes of ops."""
        return {name: value.id for name, value in values.items() if self._is_present(value)}

    def _is_present(self, value: Value) -> bool:
        return value.origin.id in self._order.parents


def _model_info(model: Any, weights: NamedTensors, **measured: Any) -> ir.ModelInfo:
    """The class of a model; the function itself for a function or a `functools.partial` of one."""
    class_ = model
    while isinstance(class_, functools.partial):
        class_ = class_.func
    class_ = type(class_) if isinstance(class_, nn.Module) or not hasattr(class_, "__qualname__") else class_
    return ir.ModelInfo(
        **_about(class_),
        name=qualified_name(class_) if isinstance(class_, type) else class_.__qualname__,
        parameters=weights.count(model),
        attributes=attributes(model) if isinstance(model, nn.Module) else {},
        **measured,
    )


def _about(class_: Any) -> dict[str, Any]:
    """Full name and source of a class or function."""
    if isinstance(class_, type):
        return {"class_": full_name(class_), "source": class_source(class_)}
    module = getattr(class_, "__module__", None)  # missing or None for methods written in C
    name = f"{module}.{class_.__qualname__}" if module else str(class_.__qualname__)
    return {"class_": name, "source": class_source(class_)}


def _tensor_spec(spec: Spec, name: str | None = None) -> ir.TensorSpec:
    return ir.TensorSpec(shape=spec.shape, dtype=spec.dtype, name=name)


def _graph_input_node(given: GraphInput, scope: str | None) -> ir.Node:
    name: Any = given.names[0] if given.names else None  # None for constants of unknown origin
    inside: Any = {"scope": scope} if scope else {}
    return _INPUT_NODES[given.kind](id=given.id, name=name, outputs=(given.value.id,), **inside)


_INPUT_NODES: dict[InputKind, type[ir.InputNode | ir.ParameterNode | ir.BufferNode | ir.ConstantNode]] = {
    "input": ir.InputNode,
    "parameter": ir.ParameterNode,
    "buffer": ir.BufferNode,
    "constant": ir.ConstantNode,
}


def _provenance() -> ir.Provenance:
    return ir.Provenance(modeldiagrams=own_version(), torch=str(torch.__version__), python=platform.python_version())
