"""Decides which function calls the graph shows as groups that readers can open like a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.tracer.values.pass_records import ModuleCall, Op

if TYPE_CHECKING:
    from modeldiagrams.tracer.values.scopes import Scope

_MIN_OPS = 3
"""A helper with fewer ops says less than its ops do."""


def keep_scopes(
    steps: list[Op | ModuleCall], contents: dict[ModuleCall, list[Op | ModuleCall]]
) -> dict[Scope, list[Op | ModuleCall]]:
    """Give ids to the function calls that the graph shows; return the steps in each, in order.

    A function is shown if it has at least three ops, calls no modules (readers look for these in their parent), and
    doesn't make up the whole module call or function around it. A `record_function`, which its author chose, may
    contain module calls. The steps of a scope that isn't shown belong to the scope or module call around it.
    """
    kept: dict[Scope, list[Op | ModuleCall]] = {}
    for scope, members in _members(steps).items():  # outer scopes first
        first, last = members[0], members[-1]
        parent: ModuleCall = first.parent  # type: ignore[assignment]
        outer = scope.kept = scope.parent.kept if scope.parent else None
        n_around = len(contents[parent] if outer is None else kept[outer])
        if (
            len(members) < n_around
            and last.ordinal - first.ordinal + 1 == len(members)  # otherwise ops of other threads ran in between
            and _is_group(scope, members, contents)
        ):
            scope.id = parent.new_id(f"{scope.name}()")
            scope.label = repr(scope.id.removeprefix(parent.id))
            scope.kept = scope
            kept[scope] = members
    return kept


def _members(steps: list[Op | ModuleCall]) -> dict[Scope, list[Op | ModuleCall]]:
    """The steps inside each scope, directly in its module call."""
    inside: dict[Scope, list[Op | ModuleCall]] = {}
    for step in steps:
        scope = step.scope
        if scope is not None and scope not in inside:
            inside.update((around, []) for around in reversed([*scope.around()]) if around not in inside)
        while scope is not None:
            inside[scope].append(step)
            scope = scope.parent
    return inside


def _is_group(scope: Scope, members: list[Op | ModuleCall], contents: dict[ModuleCall, list[Op | ModuleCall]]) -> bool:
    calls = [member for member in members if type(member) is ModuleCall]
    if not calls:
        return len(members) >= _MIN_OPS
    n_ops = len(members) - len(calls)
    while calls and n_ops < _MIN_OPS:
        inside = contents[calls.pop()]
        calls += [step for step in inside if type(step) is ModuleCall]
        n_ops += sum(type(step) is Op for step in inside)
    return scope.function is None and n_ops >= _MIN_OPS
