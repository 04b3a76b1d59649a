"""Computes structural hashes of module calls, which are equal for blocks that differ only in names and weights.

A hash covers every op inside: its name, arguments and outputs, and the origin of each input, which is a step inside, a
value from outside, or a weight, with shape and dtype. A module call inside contributes its own signature and the values
that enter it. Unusual facts are added: the order of arguments, weights used twice, and what is returned.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from modeldiagrams.common.class_facts import get_qualified_name
from modeldiagrams.common.files import digest
from modeldiagrams.tracer.torch_facts.private_api import class_of
from modeldiagrams.tracer.values.pass_records import CallSite, GraphInput, ModuleCall, Op, Spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.tracer.values.pass_records import Value
    from modeldiagrams.tracer.values.scopes import Scope

_WEIGHTS = frozenset({"parameter", "buffer"})


def sign_calls(contents: dict[ModuleCall, list[Op | ModuleCall]]) -> dict[int, str]:
    """Signatures by ``id(call)``: 32 hex digits for the root and for every module call."""
    work = _Work()
    for call, steps in reversed(contents.items()):  # inner calls first
        work.sign(call, steps)
    return {key: signed.signature for key, signed in work.signed.items()}


class _Signed(NamedTuple):
    """The signature of a call, and what the call around it needs to know."""

    signature: str
    entered: list[Value]
    """Values from outside, in the order of first use."""
    weights: list[Value]
    """Weights used inside, in the same order."""
    last: Op | None
    """The last op inside."""


class _Work:
    def __init__(self) -> None:
        self.signed: dict[int, _Signed] = {}
        """By ``id(call)``."""
        self._digest = functools.cache(functools.partial(_digest_parts, functools.cache(_to_text)))  # layers repeat
        self._class_name: Callable[[type], str] = functools.cache(lambda class_: repr(get_qualified_name(class_)))

    def sign(self, call: ModuleCall, steps: list[Op | ModuleCall]) -> None:
        """Compute a call's signature from its direct steps, after those of the calls inside."""
        entered: dict[Value, int] = {}
        weights: list[Value] = []
        parts: list[Any] = [self._class_name(class_of(call.module))]  # in the forms that `_to_text` accepts
        last = None
        for step in steps:
            scope = step.scope
            if scope is not None and scope.kept is not None:
                parts.append(scope.kept.label)
            if type(step) is Op:
                last, outputs = step, step.outputs
                parts.append((step.site, outputs[0].spec) if len(outputs) == 1 else _describe_op(step))
                for argument, value, flow in step.inputs:
                    origin = value.origin
                    if type(origin) is GraphInput:
                        parts.append((argument, flow, _input_origin(value, entered, weights)))
                    elif origin.parent is call:  # the usual case of `_origin`
                        parts.append((argument, flow, value.index, origin.ordinal))
                    else:
                        parts.append((argument, flow, self._origin(value, call, entered, weights)))
            else:
                signature, inner, used, last = self.signed[id(step)]
                parts.append(f"'{signature}'")
                parts += [self._origin(value, call, entered, weights) for value in inner]
                weights += used
        distinct, returned = list(dict.fromkeys(weights)), list(call.outputs.values())
        if len(call.inputs) > 1 or len(distinct) < len(weights):
            parts += _describe_order(call, entered, weights)
        if len(returned) != 1 or returned[0].origin is not last or returned[0].index:
            parts += self._describe_returns(call)
        self.signed[id(call)] = _Signed(self._digest(*parts), [*entered], distinct, last)

    def _describe_returns(self, call: ModuleCall) -> list[str]:
        """Describe the returned values, if they aren't the only output of the last op."""
        elsewhere: dict[Value, int] = {}
        weights: list[Value] = []
        values = list(call.outputs.values())
        origins = [self._origin(value, call, elsewhere, weights) for value in values]
        made = [_to_text(origin) for value, origin in zip(values, origins, strict=True) if value not in elsewhere]
        return [f"returns [{', '.join(made)}]"] if made else []

    def _origin(self, value: Value, call: ModuleCall, entered: dict[Value, int], weights: list[Value]) -> Any:
        """Origin of a value relative to a call. Adds values from outside, and weights, to their lists."""
        origin = value.origin
        if type(origin) is GraphInput:
            return _input_origin(value, entered, weights)
        parent = origin.parent
        if call.is_leaf and parent is not call:  # and no inner call made it
            return entered.setdefault(value, len(entered)), value.spec
        path = [value.index, origin.ordinal]
        while parent is not call:
            if parent.parent is None:
                return entered.setdefault(value, len(entered)), value.spec
            path.append(parent.ordinal)
            parent = parent.parent
        return tuple(path)


def _describe_order(call: ModuleCall, entered: dict[Value, int], weights: list[Value]) -> list[str]:
    """Describe the order of a call's arguments and weights, if it isn't that of their first use."""
    found = []
    order = [entered[value] for value in call.inputs.values() if value in entered]
    if order != sorted(order):
        found.append(f"arguments {order}")
    numbers: dict[Value, int] = {}
    used = [numbers.setdefault(value, len(numbers)) for value in weights]
    if len(numbers) < len(used):
        found.append(f"weights {used}")
    return found


def _input_origin(value: Value, entered: dict[Value, int], weights: list[Value]) -> tuple[Any, ...]:
    """Origin of a value from before the pass."""
    if value.origin.kind in _WEIGHTS:  # type: ignore[union-attr]
        weights.append(value)
        return "weight", value.spec
    return entered.setdefault(value, len(entered)), value.spec


def sign_scopes(functions: dict[Scope, list[Op | ModuleCall]], calls: dict[int, str]) -> dict[Scope, str]:
    """Hash function calls like module `calls`: equal if they compute the same."""
    known: dict[Any, str] = {}
    signed: dict[Scope, str] = {}
    for scope, members in functions.items():
        # module calls with equal signatures have equal ops at equal positions
        place = (calls[id(members[0].parent)], scope.function or scope, members[0].ordinal, len(members))
        if place not in known:
            known[place] = _digest_parts(_to_text, *_scope_parts(scope, members, calls))
        signed[scope] = known[place]
    return signed


def _scope_parts(scope: Scope, members: list[Op | ModuleCall], calls: dict[int, str]) -> list[Any]:
    entered: dict[Value, int] = {}
    call, inside = members[0].parent, range(members[0].ordinal, members[-1].ordinal + 1)
    parts: list[Any] = [repr(scope.function or scope.name)]
    for step in members:
        kept = step.scope.kept if step.scope else None
        if kept is not None and kept is not scope:
            parts.append(repr(kept.id.rpartition("/")[2]))
        if type(step) is Op:
            parts.append(_describe_op(step))
            for argument, value, flow in step.inputs:
                origin = value.origin
                if type(origin) is Op and origin.parent is call and origin.ordinal in inside:  # as in `_scope_origin`
                    parts.append((argument, flow, (value.index, origin.ordinal - inside.start)))
                else:
                    parts.append((argument, flow, _scope_origin(value, call, inside, entered)))
        else:
            parts.append(f"'{calls[id(step)]}'")
            for argument, value in step.inputs.items():
                parts.append((argument, "", _scope_origin(value, call, inside, entered)))
    return parts


def _scope_origin(value: Value, call: ModuleCall | None, inside: range, entered: dict[Value, int]) -> tuple[Any, ...]:
    """Origin of a value: a step inside the scope, or its number among the values that enter."""
    path = [value.index]
    step: Any = value.origin
    if type(step) is not GraphInput:
        while step is not None and step.parent is not call:
            path.append(step.ordinal)
            step = step.parent
        if step is not None and step.ordinal in inside:
            return (*path, step.ordinal - inside.start)
    return entered.setdefault(value, len(entered)), value.spec


def _describe_op(op: Op) -> tuple[Any, ...]:
    return op.site, *[value.spec for value in op.outputs]


def _digest_parts(text: Callable[[Any], str], *parts: Any) -> str:
    return digest(f"[{', '.join(map(text, parts))}]".encode())


def _to_text(part: Any) -> str:
    """Text of a part to be hashed: an op with its outputs, an input with its origin, an origin, or text."""
    if type(part) is str:
        return part
    first, last = part[0], part[-1]
    if type(first) is CallSite:
        specs = [(spec.shape, spec.dtype) for spec in part[1:]]
        return repr((first.function.name, sorted(first.arguments.items()), specs))
    if type(first) is str and type(last) is int:
        return f"({first!r}, {part[1]!r}, {list(part[2:])})"
    if type(last) is tuple:
        return f"({first!r}, {part[1]!r}, {_to_text(last)})"
    return repr((first, last.shape, last.dtype) if type(last) is Spec else list(part))
