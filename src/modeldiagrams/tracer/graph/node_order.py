"""The order of the nodes, their parents, and the edges between them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from modeldiagrams.ir import graph as ir
from modeldiagrams.tracer.graph.kept_scopes import keep_scopes
from modeldiagrams.tracer.values.records import GraphInput, ModuleCall, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.tracer.values.records import Recording
    from modeldiagrams.tracer.values.scopes import Scope

Step: TypeAlias = Op | ModuleCall | GraphInput


@dataclass(slots=True)
class NodeOrder:
    """The nodes in order, and the parent of each."""

    steps: list[Step] = field(default_factory=list)
    parents: dict[str, str | None] = field(default_factory=dict)
    """Node id → id of the parent; None directly under the root."""
    scopes: dict[str, str] = field(default_factory=dict)
    """Node id → id of the function call directly around it in its parent; others are left out."""
    functions: dict[Scope, list[Op | ModuleCall]] = field(default_factory=dict)
    """The function calls that the graph shows, in order, and what is in them."""
    edges: defaultdict[str, list[ir.Edge]] = field(default_factory=lambda: defaultdict(list))
    """Node id → outgoing edges."""
    weights: dict[str, dict[str, str]] = field(default_factory=dict)
    """Node id of an op → weights that its leaf module owns, by argument."""

    def add(self, step: Step, parent: ModuleCall | None, scope: Scope | None = None) -> None:
        """Append a node."""
        self.steps.append(step)
        self.parents[step.id] = (parent.id or None) if parent else None
        if scope is not None and scope.kept is not None:
            self.scopes[step.id] = scope.kept.id


def node_order(recording: Recording, contents: dict[ModuleCall, list[Op | ModuleCall]]) -> NodeOrder:
    """Connect the steps by edges, and place weights and constants among them."""
    users: dict[GraphInput, list[Op]] = {}
    order = NodeOrder(functions=keep_scopes(recording.steps, contents))
    for op in recording.steps:
        if type(op) is Op:
            _connect_inputs(op, users, order)
    for _, values in recording.outputs:
        for value in values:
            if type(value.origin) is GraphInput and value.origin.kind != "input":
                users.setdefault(value.origin, [])
    return _ordered(recording, order, users)


def _connect_inputs(op: Op, users: dict[GraphInput, list[Op]], order: NodeOrder) -> None:
    """Add the edges into an op. A weight that its leaf module owns becomes an attribute of the op instead."""
    for argument, value, flow in op.inputs:
        origin = value.origin
        if type(origin) is GraphInput and origin.kind != "input":
            name = _owned_name(origin, op.parent)
            if name is not None:
                order.weights.setdefault(op.id, {})[argument] = name
                continue
            users.setdefault(origin, []).append(op)
        order.edges[origin.id].append(ir.Edge(to=op.id, tensor=value.id, argument=argument, flow=flow))


def _owned_name(weight: GraphInput, user: ModuleCall) -> str | None:
    """The name of a weight that belongs to a leaf module, or to an uncalled module inside it; None for others."""
    if weight.kind == "constant" or not user.is_leaf or user.parent is None:
        return None
    prefix = f"{user.path}."
    return next((name for name in weight.names if name.startswith(prefix)), None)


def _ordered(recording: Recording, order: NodeOrder, users: dict[GraphInput, list[Op]]) -> NodeOrder:
    """Put every weight and constant before the step that uses it first, inside the parent that all its users share."""
    before: dict[int, list[GraphInput]] = {}
    parents: dict[GraphInput, tuple[ModuleCall, Scope | None]] = {}
    for weight, ops in users.items():
        parent = weight.call or _common_parent(ops, recording.root)
        readers = [_child_towards(parent, op) for op in ops]
        scope = _common_scope(readers)
        parents[weight] = (parent, scope)
        if ops:
            before.setdefault(id(_first_inside(scope, readers[0], order)), []).append(weight)
    for given in recording.inputs:
        order.add(given, None)
    for step in recording.steps:
        for weight in before.get(id(step), ()):
            order.add(weight, *parents[weight])
        order.add(step, step.parent, step.scope)
    for weight, ops in users.items():
        if not ops:
            order.add(weight, *parents[weight])
    return order


def _common_scope(steps: list[Op | ModuleCall]) -> Scope | None:
    """The innermost function call around all steps, which have one parent; None for that."""
    first, *others = [step.scope for step in steps] or [None]
    return next((s for s in first.around() if all(o and s in o.around() for o in others)), None) if first else None


def _first_inside(scope: Scope | None, reader: Op | ModuleCall, order: NodeOrder) -> Op | ModuleCall:
    """What comes first of the outermost group around a reader that is not around the weight, too; or the reader."""
    outside = set(scope.around()) if scope else set()
    groups = [s for s in (reader.scope.around() if reader.scope else ()) if s.id and s not in outside]
    return order.functions[groups[-1]][0] if groups else reader


def _child_towards(parent: ModuleCall, op: Op) -> Op | ModuleCall:
    """The direct child of a module call that contains an op, or the op itself."""
    step: Op | ModuleCall = op
    for call in _around(op):
        if call is parent:
            break
        step = call
    return step


def _common_parent(ops: list[Op], root: ModuleCall) -> ModuleCall:
    """The innermost module call around all ops."""
    paths = [[*_around(op)][::-1] for op in ops]
    common = [calls[0] for calls in zip(*paths, strict=False) if all(call is calls[0] for call in calls)]
    return common[-1] if common else root


def _around(op: Op) -> Iterator[ModuleCall]:
    """The module calls around an op, the innermost first."""
    call: ModuleCall | None = op.parent
    while call is not None:
        yield call
        call = call.parent
