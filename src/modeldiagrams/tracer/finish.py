"""From a recording to a `Graph`."""

from __future__ import annotations

import functools
import platform
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import nn

import modeldiagrams
from modeldiagrams import graph as ir
from modeldiagrams.tracer.attributes import attributes
from modeldiagrams.tracer.recording import Call, Op, Recording, Source, Spec, Value
from modeldiagrams.tracer.signatures import signatures
from modeldiagrams.tracer.source import class_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.tracer.weights import Weights

__all__ = ["build_graph", "class_of", "provenance", "qualified"]

_Step: TypeAlias = Op | Call | Source


def build_graph(recording: Recording, weights: Weights, status: ir.Status) -> ir.Graph:
    """Turn what was recorded into the intermediate format.

    Args:
        recording: What happened.
        weights: Names of the model's parameters, buffers and constants.
        status: How the pass went; its ``unseen`` is filled in here.

    Returns:
        A graph that passes `Graph.check`.
    """
    plan = _plan(recording)
    marks = signatures(recording)
    specs = weights.specs()
    _sum_up(recording.steps)
    builder = _Builder(recording, plan, weights, marks)
    return ir.Graph(
        model=builder.model(),
        nodes=tuple(builder.nodes()),
        adjacency=builder.adjacency(),
        hierarchy=builder.hierarchy(),
        tensors=builder.tensors(),
        parameters=specs,
        status=builder.status(status),
        provenance=provenance(),
    )


@dataclass(slots=True)
class _Plan:
    """What becomes a node, in which order and where."""

    steps: list[_Step] = field(default_factory=list)
    holders: dict[str, str | None] = field(default_factory=dict)
    """Node id → id of the holder; None directly under the root."""


def _plan(recording: Recording) -> _Plan:
    steps = [s for s in recording.steps if not (isinstance(s, Op) and s.failed and s is not recording.failed_at)]
    users: dict[Source, list[Op]] = {}
    for op in steps:
        if isinstance(op, Op):
            _sort_feeds(op, users)
    for _, values in recording.outputs:
        for value in values:
            if isinstance(value.origin, Source) and value.origin.kind != "input":
                users.setdefault(value.origin, [])
    plan = _Plan()
    _place(recording, steps, users, plan)
    return plan


def _sort_feeds(op: Op, users: dict[Source, list[Op]]) -> None:
    """Tell weights that are part of a leaf module from values that flow."""
    holder = op.holder
    owner = f"{holder.path}." if holder.is_leaf and holder.holder is not None else None
    for argument, value, flow in op.feeds:
        source = value.origin
        if isinstance(source, Source) and source.kind != "input":
            name = None if owner is None else _owned_name(source, owner)
            if name is not None:
                op.weights[argument] = name
                continue
            users.setdefault(source, []).append(op)
        source.edges.append(ir.Edge(to=op.id, tensor=value.id, argument=argument, flow=flow))


def _sum_up(steps: list[Op | Call]) -> None:
    """What ops cost, added up in all calls around them."""
    for step in reversed(steps):  # those inside come first
        holder = step.holder
        if holder is not None:
            holder.nbytes += step.nbytes
            if step.flops is not None:
                holder.flops = (holder.flops or 0) + step.flops


def _owned_name(source: Source, owner: str) -> str | None:
    """The name under which a leaf module call, or a module in it that is not called itself, owns a weight, or None."""
    if source.kind != "constant":
        for name in source.names:
            if name.startswith(owner):
                return name
    return None


def _place(recording: Recording, steps: list[Op | Call], users: dict[Source, list[Op]], plan: _Plan) -> None:
    """Put every source before the step, inside its holder, in which it is used first."""
    before: dict[int, list[Source]] = {}
    around: dict[Source, str | None] = {}
    for source, ops in users.items():
        holder = source.call or _common_holder([op.holder for op in ops], recording.root)
        around[source] = holder.id or None
        if ops:
            before.setdefault(id(_step_inside(holder, ops[0])), []).append(source)
    plan.steps.extend(recording.inputs)
    plan.holders.update((source.id, None) for source in recording.inputs)
    for step in steps:
        if id(step) in before:
            plan.steps.extend(before[id(step)])
            plan.holders.update((source.id, around[source]) for source in before[id(step)])
        plan.steps.append(step)
        plan.holders[step.id] = step.holder.id or None if step.holder else None
    unused = [source for source, ops in users.items() if not ops]
    plan.steps.extend(unused)
    plan.holders.update((source.id, around[source]) for source in unused)


def _step_inside(holder: Call, op: Op) -> Op | Call:
    """The op itself, or the call directly inside the holder that leads to it."""
    step: Op | Call = op
    call: Call | None = op.holder
    while call is not None and call is not holder:
        step, call = call, call.holder
    return step


def _common_holder(calls: list[Call], root: Call) -> Call:
    common: list[Call] | None = None
    for call in calls:
        chain = [*_chain(call)]
        common = chain if common is None else [a for a, b in zip(common, chain, strict=False) if a is b]
    return common[-1] if common else root


def _chain(call: Call) -> list[Call]:
    """Root … call."""
    chain = []
    current: Call | None = call
    while current is not None:
        chain.append(current)
        current = current.holder
    return chain[::-1]


class _Builder:
    """Writes the parts of the graph."""

    def __init__(self, recording: Recording, plan: _Plan, weights: Weights, marks: dict[int, str]) -> None:
        self._recording = recording
        self._plan = plan
        self._weights = weights
        self._marks = marks
        self._class: Callable[[Any], tuple[str, str | None]] = functools.cache(_name_and_source)

    def model(self) -> ir.ModelInfo:
        root = self._recording.root
        class_ = class_of(root.module)
        return ir.ModelInfo(
            name=class_.__qualname__,
            class_=qualified(class_),
            parameters=self._weights.count(root.module),
            flops=root.flops,
            activation_bytes=root.nbytes,
            attributes=attributes(root.module) if isinstance(root.module, nn.Module) else {},
            inputs=self._tensor_ids(root.inputs),
            outputs={name: values[-1].id for name, values in self._recording.outputs if self._is_present(values[-1])},
            signature=self._marks.get(id(root)),
            source=class_source(class_),
        )

    def nodes(self) -> list[ir.Node]:
        nodes = [self._node(step) for step in self._plan.steps]
        nodes += [ir.OutputNode(id=f"output:{name}", name=name) for name, _ in self._recording.outputs]
        return nodes

    def adjacency(self) -> dict[str, tuple[ir.Edge, ...]]:
        for name, values in self._recording.outputs:
            for value in values:
                value.origin.edges.append(ir.Edge(to=f"output:{name}", tensor=value.id))
        return {step.id: tuple(step.edges) for step in self._plan.steps if not isinstance(step, Call) and step.edges}

    def hierarchy(self) -> dict[str, str | None]:
        return {**self._plan.holders, **{f"output:{name}": None for name, _ in self._recording.outputs}}

    def tensors(self) -> dict[str, ir.TensorSpec]:
        roles = {values[-1]: name for name, values in reversed(self._recording.outputs)}
        roles.update((source.value, source.names[0]) for source in self._recording.inputs)
        plain = functools.cache(_tensor_spec)  # as nearly all are
        return {
            value.id: _tensor_spec(value.spec, roles[value]) if value in roles else plain(value.spec)
            for step in self._plan.steps
            if not isinstance(step, Call)
            for value in step.outputs
        }

    def status(self, status: ir.Status) -> ir.Status:
        unseen = tuple(s.value.id for s in self._plan.steps if isinstance(s, Source) and not s.names)
        return ir.Status(
            state=status.state,
            mode=status.mode,
            error=status.error,
            unseen=unseen,
            guesses=status.guesses,
            notes=status.notes,
        )

    def _node(self, step: _Step) -> ir.Node:
        if isinstance(step, Op):
            return self._op(step)
        if isinstance(step, Call):
            return self._module(step)
        return _source_node(step)

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

    def _module(self, call: Call) -> ir.ModuleNode:
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
            signature=self._marks.get(id(call)),
            source=source,
        )

    def _tensor_ids(self, values: dict[str, Value]) -> dict[str, str]:
        """Leaves out weights that are no nodes: they are given as parameters, they don't flow."""
        if not values:
            return {}
        present = self._plan.holders
        return {name: value.id for name, value in values.items() if value.origin.id in present}

    def _is_present(self, value: Value) -> bool:
        return value.origin.id in self._plan.holders


def _name_and_source(class_: Any) -> tuple[str, str | None]:
    return qualified(class_), class_source(class_)


def class_of(model: Any) -> type | Any:
    """A model's class; a plain function stands for itself, with some arguments fixed or not."""
    while isinstance(model, functools.partial):
        model = model.func
    return type(model) if isinstance(model, nn.Module) or not hasattr(model, "__qualname__") else model


def qualified(class_: Any) -> str:
    """Fully qualified name of a class or function."""
    module = getattr(class_, "__module__", None)  # methods written in C have none, or it is None
    return f"{module}.{class_.__qualname__}" if module else str(class_.__qualname__)


def _tensor_spec(spec: Spec, name: str | None = None) -> ir.TensorSpec:
    return ir.TensorSpec(shape=spec.shape, dtype=spec.dtype, name=name)


def _source_node(source: Source) -> ir.Node:
    outputs = (source.value.id,)
    if source.kind == "input":
        return ir.InputNode(id=source.id, name=source.names[0], outputs=outputs)
    if source.kind == "parameter":
        return ir.ParameterNode(id=source.id, name=source.names[0], outputs=outputs)
    if source.kind == "buffer":
        return ir.BufferNode(id=source.id, name=source.names[0], outputs=outputs)
    return ir.ConstantNode(id=source.id, name=source.names[0] if source.names else None, outputs=outputs)


def provenance() -> ir.Provenance:
    """What made the graph."""
    return ir.Provenance(
        modeldiagrams=modeldiagrams.__version__, torch=str(torch.__version__), python=platform.python_version()
    )
