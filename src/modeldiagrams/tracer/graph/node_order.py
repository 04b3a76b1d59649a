"""Connects nodes by edges, and places weights and constants among them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from modeldiagrams.ir import graph as ir
from modeldiagrams.ir.ids import make_unique
from modeldiagrams.tracer.values.pass_records import GraphInput, ModuleCall, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.tracer.values.pass_records import PassRecord
    from modeldiagrams.tracer.values.scopes import Scope


@dataclass(slots=True)
class Connections:
    """The inputs of the ops of a pass."""

    edges: defaultdict[str, list[ir.Edge]] = field(default_factory=lambda: defaultdict(list))
    """Node id → outgoing edges."""
    weights: dict[str, dict[str, str]] = field(default_factory=dict)
    """Node id of an op → argument → name of a weight that its leaf module owns."""
    users: dict[GraphInput, list[Op]] = field(default_factory=dict)
    """Weight or constant that is a node → the ops that read it."""
    _ids: set[str] = field(default_factory=set)
    """Ids of these weights and constants."""

    def users_of(self, origin: GraphInput) -> list[Op]:
        """The readers of a weight or constant; it gets an id of its own, because several may have the same name."""
        if origin not in self.users:
            origin.set_id(make_unique(origin.id, self._ids))
            self._ids.add(origin.id)
            self.users[origin] = []
        return self.users[origin]


@dataclass(slots=True)
class Places:
    """The places of weights and constants."""

    parents: dict[GraphInput, tuple[ModuleCall, Scope | None]] = field(default_factory=dict)
    before: dict[int, list[GraphInput]] = field(default_factory=dict)
    """``id`` of a step → those that precede it."""
    unread: list[GraphInput] = field(default_factory=list)
    """Those that the model only returns."""


def connect_ops(recording: PassRecord) -> Connections:
    """Connect the steps by edges. A weight that its leaf module owns becomes an attribute of the op instead."""
    found = Connections()
    edges = found.edges
    for op in recording.steps:
        if type(op) is not Op:
            continue
        for argument, value, flow in op.inputs:
            origin = value.origin
            if type(origin) is GraphInput and origin.kind != "input":
                name = _owned_name(origin, op.parent)
                if name is not None:
                    found.weights.setdefault(op.id, {})[argument] = name
                    continue
                found.users_of(origin).append(op)
            edges[origin.id].append(ir.Edge(to=op.id, tensor=value.id, argument=argument, flow=flow))
    for _, values in recording.outputs:
        for value in values:
            if type(value.origin) is GraphInput and value.origin.kind != "input":
                found.users_of(value.origin)
    return found


def place_weights(
    recording: PassRecord, users: dict[GraphInput, list[Op]], functions: dict[Scope, list[Op | ModuleCall]]
) -> Places:
    """Put every weight and constant before its first user, inside the parent that all its users share."""
    found = Places()
    for weight, ops in users.items():
        parent = weight.call or _common_parent(ops, recording.root)
        if not ops:
            found.parents[weight] = (parent, None)
            found.unread.append(weight)
            continue
        readers = [_child_towards(parent, op) for op in ops]
        scope = _common_scope(readers)
        found.parents[weight] = (parent, scope)
        found.before.setdefault(id(_first_inside(scope, readers[0], functions)), []).append(weight)
    return found


def _owned_name(weight: GraphInput, user: ModuleCall) -> str | None:
    """The name of a weight that belongs to a leaf module, or to an uncalled module inside it; None for others."""
    if weight.kind == "constant" or not user.is_leaf or user.parent is None:
        return None
    prefix = f"{user.path}."
    for name in weight.names:  # nearly always one, for which a generator is slower
        if name.startswith(prefix):
            return name
    return None


def _common_scope(steps: list[Op | ModuleCall]) -> Scope | None:
    """The innermost function call around all of these steps of one parent; None if there is none."""
    first, *others = [step.scope for step in steps]
    return next((s for s in first.around() if all(o and s in o.around() for o in others)), None) if first else None


def _first_inside(
    scope: Scope | None, reader: Op | ModuleCall, functions: dict[Scope, list[Op | ModuleCall]]
) -> Op | ModuleCall:
    """The first step of the outermost group that contains the reader but not the weight; without one, the reader."""
    outside = set(scope.around()) if scope else set()
    groups = [s for s in (reader.scope.around() if reader.scope else ()) if s.id and s not in outside]
    return functions[groups[-1]][0] if groups else reader


def _child_towards(parent: ModuleCall, op: Op) -> Op | ModuleCall:
    """The direct child of a module call that contains an op, or the op itself."""
    step: Op | ModuleCall = op
    for call in _calls_around(op):
        if call is parent:
            break
        step = call
    return step


def _common_parent(ops: list[Op], root: ModuleCall) -> ModuleCall:
    """The innermost module call around all ops."""
    paths = [[*_calls_around(op)][::-1] for op in ops]
    common = [calls[0] for calls in zip(*paths, strict=False) if all(call is calls[0] for call in calls)]
    return common[-1] if common else root


def _calls_around(op: Op) -> Iterator[ModuleCall]:
    """The module calls around an op, the innermost first."""
    call: ModuleCall | None = op.parent
    while call is not None:
        yield call
        call = call.parent
