"""Builds a `Graph` from a recording."""

from __future__ import annotations

import functools
import platform
from typing import TYPE_CHECKING, Any

import msgspec
import torch
from torch import nn

from modeldiagrams.common.version import own_version
from modeldiagrams.ir import graph as ir
from modeldiagrams.tracer.graph.extra_repr import attributes
from modeldiagrams.tracer.graph.node_order import node_order
from modeldiagrams.tracer.graph.signatures import signatures
from modeldiagrams.tracer.values.records import GraphInput, ModuleCall, Op
from modeldiagrams.tracer.values.source_lines import class_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.tracer.graph.node_order import NodeOrder, Step
    from modeldiagrams.tracer.values.named_tensors import NamedTensors
    from modeldiagrams.tracer.values.records import InputKind, Recording, Spec, Value

__all__ = ["build_graph", "class_of", "provenance", "qualified_name"]


def build_graph(recording: Recording, weights: NamedTensors, status: ir.Status) -> ir.Graph:
    """Turn a recording into the intermediate representation.

    Args:
        recording: What happened during the pass.
        weights: Names of the model's parameters, buffers and constants.
        status: How the pass went, without ``unseen``, which is filled in here.

    Returns:
        A graph that passes `check_graph`.
    """
    order = node_order(recording)
    _add_up_costs(recording.steps)
    builder = _Builder(recording, order, weights, signatures(recording))
    return ir.Graph(
        model=builder.model(),
        nodes=tuple(builder.nodes()),
        adjacency=builder.adjacency(),
        hierarchy=builder.hierarchy(),
        tensors=builder.tensors(),
        parameters=weights.specs(),
        status=builder.status(status),
        provenance=provenance(),
    )


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
        self._class: Callable[[Any], tuple[str, str | None]] = functools.cache(_name_and_source)

    def model(self) -> ir.ModelInfo:
        root = self._recording.root
        class_ = class_of(root.module)
        return ir.ModelInfo(
            name=class_.__qualname__,
            class_=qualified_name(class_),
            parameters=self._weights.count(root.module),
            flops=root.flops,
            activation_bytes=root.nbytes,
            attributes=attributes(root.module) if isinstance(root.module, nn.Module) else {},
            inputs=self._tensor_ids(root.inputs),
            outputs={name: values[-1].id for name, values in self._recording.outputs if self._is_present(values[-1])},
            signature=self._signatures.get(id(root)),
            source=class_source(class_),
        )

    def nodes(self) -> list[ir.Node]:
        nodes = [self._node(step) for step in self._order.steps]
        nodes += [ir.OutputNode(id=f"output:{name}", name=name) for name, _ in self._recording.outputs]
        return nodes

    def adjacency(self) -> dict[str, tuple[ir.Edge, ...]]:
        for name, values in self._recording.outputs:
            for value in values:
                value.origin.edges.append(ir.Edge(to=f"output:{name}", tensor=value.id))
        return {
            step.id: tuple(step.edges) for step in self._order.steps if type(step) is not ModuleCall and step.edges
        }

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

    def status(self, status: ir.Status) -> ir.Status:
        unseen = tuple(s.value.id for s in self._order.steps if type(s) is GraphInput and not s.names)
        return msgspec.structs.replace(status, unseen=unseen)

    def _node(self, step: Step) -> ir.Node:
        if type(step) is Op:
            return self._op(step)
        if type(step) is ModuleCall:
            return self._module(step)
        return _graph_input_node(step)

    def _op(self, op: Op) -> ir.OpNode:
        site = op.site
        return ir.OpNode(
            id=op.id,
            name=site.name,
            outputs=tuple([value.id for value in op.outputs]),
            arguments=site.arguments,
            weights=op.weights,
            source=site.source,
            flops=op.flops,
            activation_bytes=op.nbytes,
            opaque=site.opaque,
        )

    def _module(self, call: ModuleCall) -> ir.ModuleNode:
        class_, source = self._class(type(call.module))
        return ir.ModuleNode(
            id=call.id,
            path=call.path,
            class_=class_,
            parameters=self._weights.count(call.module),
            call=call.number,
            attributes=attributes(call.module),
            inputs=self._tensor_ids(call.inputs),
            outputs=self._tensor_ids(call.outputs),
            flops=call.flops,
            activation_bytes=call.nbytes,
            signature=self._signatures.get(id(call)),
            source=source,
        )

    def _tensor_ids(self, values: dict[str, Value]) -> dict[str, str]:
        """Ids of values that nodes make; the others are weights shown as attributes of ops."""
        return {name: value.id for name, value in values.items() if self._is_present(value)}

    def _is_present(self, value: Value) -> bool:
        return value.origin.id in self._order.parents


def _name_and_source(class_: Any) -> tuple[str, str | None]:
    return qualified_name(class_), class_source(class_)


def class_of(model: Any) -> type | Any:
    """The class of a model; the function itself for a function or a `functools.partial` of one."""
    while isinstance(model, functools.partial):
        model = model.func
    return type(model) if isinstance(model, nn.Module) or not hasattr(model, "__qualname__") else model


def qualified_name(class_: Any) -> str:
    """Fully qualified name of a class or function."""
    module = getattr(class_, "__module__", None)  # missing or None for methods written in C
    return f"{module}.{class_.__qualname__}" if module else str(class_.__qualname__)


def _tensor_spec(spec: Spec, name: str | None = None) -> ir.TensorSpec:
    return ir.TensorSpec(shape=spec.shape, dtype=spec.dtype, name=name)


def _graph_input_node(given: GraphInput) -> ir.Node:
    name: Any = given.names[0] if given.names else None  # None for constants of unknown origin
    return _INPUT_NODES[given.kind](id=given.id, name=name, outputs=(given.value.id,))


_INPUT_NODES: dict[InputKind, type[ir.InputNode | ir.ParameterNode | ir.BufferNode | ir.ConstantNode]] = {
    "input": ir.InputNode,
    "parameter": ir.ParameterNode,
    "buffer": ir.BufferNode,
    "constant": ir.ConstantNode,
}


def provenance() -> ir.Provenance:
    """Versions of the software that made the graph."""
    return ir.Provenance(modeldiagrams=own_version(), torch=str(torch.__version__), python=platform.python_version())
