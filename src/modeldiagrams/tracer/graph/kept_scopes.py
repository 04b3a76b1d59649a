"""Which function calls the graph shows as a group: those that readers would open like a module."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from modeldiagrams.tracer.values.records import ModuleCall, Op

if TYPE_CHECKING:
    from modeldiagrams.tracer.values.scopes import Scope

__all__ = ["keep_scopes", "kept_around"]

_MIN_OPS = 3
"""A helper with fewer ops says less than they do."""


def keep_scopes(steps: list[Op | ModuleCall]) -> dict[Scope, list[Op | ModuleCall]]:
    """Give ids to the function calls that the graph shows; returns what is directly in their module call, in order.

    A function is shown with at least three ops, unless it calls modules, which readers look for where they are, or has
    the same content as the module call or the function around it. A `record_function`, its author's own cue, may
    contain module calls. What is not shown leaves its content to what is around it.
    """
    positions: dict[int, int] = {}
    children: dict[ModuleCall, int] = defaultdict(int)
    inside: dict[Scope, list[Op | ModuleCall]] = defaultdict(list)
    for step in steps:
        if step.parent is None:
            continue
        positions[id(step)] = children[step.parent]
        children[step.parent] += 1
        for scope in reversed([*step.scope.around()] if step.scope else []):
            inside[scope].append(step)
    n_ops = _ops_inside(steps)
    kept: dict[Scope, list[Op | ModuleCall]] = {}
    for scope, members in inside.items():  # the outer ones first
        first, last = members[0], members[-1]
        parent = first.parent
        outer = scope.kept = kept_around(scope.parent)
        n_around = children[parent] if outer is None else len(kept[outer])  # type: ignore[index]
        # ops of other threads may have run in between
        is_contiguous = positions[id(last)] - positions[id(first)] + 1 == len(members)
        has_modules = any(isinstance(member, ModuleCall) for member in members)
        if (
            sum(n_ops[id(member)] for member in members) >= _MIN_OPS
            and not (has_modules and scope.function is not None)
            and is_contiguous
            and len(members) < n_around
        ):
            scope.id = parent.new_id(f"{scope.name}()")  # type: ignore[union-attr]
            scope.kept = scope
            kept[scope] = members
    return kept


def kept_around(scope: Scope | None) -> Scope | None:
    """The innermost scope that the graph shows."""
    return scope.kept if scope is not None else None


def _ops_inside(steps: list[Op | ModuleCall]) -> dict[int, int]:
    """Number of ops of each step, by id; that of an op is 1."""
    found: dict[int, int] = defaultdict(int)
    for step in reversed(steps):  # a module call comes before what runs inside it
        if isinstance(step, Op):
            found[id(step)] = 1
        if step.parent is not None:
            found[id(step.parent)] += found[id(step)]
    return found
