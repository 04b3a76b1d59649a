"""Structural hash of every module call: equal for identical blocks, whatever their names and weights.

A hash covers, for every op inside: its name, arguments and outputs, and for every value going in whether it was made
inside (and where), enters from outside (and as which one), or is a weight, with its shape and dtype. A module call
inside counts with its own signature and the values that enter it. Besides, where it is not as usual: which argument
each entering value is, which weights are the same ones, and what is returned.
"""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.tracer.recording import Call, Op, Recording, Site, Source, Spec

if TYPE_CHECKING:
    from modeldiagrams.tracer.recording import Value

__all__ = ["signatures"]

_WEIGHTS = frozenset({"parameter", "buffer"})


def signatures(recording: Recording) -> dict[int, str]:
    """Signatures by ``id(call)``: 32 hex digits for the root and for every module call."""
    work = _Work()
    inside: dict[Call, list[Op | Call]] = {recording.root: []}
    for step in recording.steps:
        siblings = inside[step.holder or recording.root]
        step.ordinal = len(siblings)
        siblings.append(step)
        if isinstance(step, Call):
            inside[step] = []
    for call, steps in reversed(inside.items()):  # those inside come first
        work.sign(call, steps)
    return {key: signed.signature for key, signed in work.signed.items()}


class _Signed(NamedTuple):
    """What is known of a call that was signed."""

    signature: str
    entered: list[Value]
    """Values that enter it from outside, in the order of their first use."""
    weights: list[Value]
    """Used in it, in the same order."""
    last: Op | None
    """The op that ran last in it."""


class _Work:
    def __init__(self) -> None:
        self.signed: dict[int, _Signed] = {}
        """By ``id(call)``."""
        # layers are alike: most texts come up often
        self._name = functools.cache(repr)
        self._op = functools.cache(_op_text)
        self._feed = functools.cache(_feed_text)
        self._outside = functools.cache(_outside_text)
        self._digest = functools.cache(_digest_of)

    def sign(self, call: Call, steps: list[Op | Call]) -> None:
        """Compute one call's signature from its direct steps; those of the calls inside are known already."""
        entered: dict[Value, int] = {}
        weights: list[Value] = []
        parts = [self._name(type(call.module).__qualname__)]
        last = None
        for step in steps:
            if isinstance(step, Op):
                parts.append(self._op(step.site, *[value.spec for value in step.outputs]))
                for argument, value, flow in step.feeds:
                    parts.append(self._feed(argument, flow, self._place(value, call, entered, weights)))
                last = step
            else:
                signature, inner, used, last = self.signed[id(step)]
                parts.append(f"'{signature}'")
                parts += [self._place(value, call, entered, weights) for value in inner]
                weights += used
        if len(call.inputs) > 1:
            order = [entered[value] for value in call.inputs.values() if value in entered]
            if order != sorted(order):
                parts.append(f"arguments {order}")
        distinct = list(dict.fromkeys(weights))
        if len(distinct) < len(weights):
            numbers = {value: i for i, value in enumerate(distinct)}
            parts.append(f"weights {[numbers[value] for value in weights]}")
        if call.outputs:
            parts += self._returned(call, last)
        self.signed[id(call)] = _Signed(self._digest(f"[{', '.join(parts)}]"), [*entered], distinct, last)

    def _returned(self, call: Call, last: Op | None) -> list[str]:
        """What is returned, unless it is what the last op made, as mostly, or nothing new."""
        values = list(call.outputs.values())
        if len(values) == 1 and values[0].origin is last and not values[0].index:
            return []
        elsewhere: dict[Value, int] = {}
        weights: list[Value] = []
        places = [self._place(value, call, elsewhere, weights) for value in values]
        made = [place for value, place in zip(values, places, strict=True) if value not in elsewhere]
        return [f"returns [{', '.join(made)}]"] if made else []

    def _place(self, value: Value, call: Call, entered: dict[Value, int], weights: list[Value]) -> str:
        """Where a value comes from, seen from inside a call; one from outside or a weight is added to its list."""
        origin = value.origin
        if isinstance(origin, Source):
            if origin.kind in _WEIGHTS:
                weights.append(value)
                return self._outside("weight", value.spec)
            return self._outside(entered.setdefault(value, len(entered)), value.spec)
        holder = origin.holder
        if holder is call:
            return f"[{value.index}, {origin.ordinal}]"
        path = f"[{value.index}, {origin.ordinal}"
        while holder is not call:
            if holder.holder is None:
                return self._outside(entered.setdefault(value, len(entered)), value.spec)
            path += f", {holder.ordinal}"
            holder = holder.holder
        return path + "]"


def _op_text(site: Site, *outputs: Spec) -> str:
    return repr((site.name, sorted(site.arguments.items()), [(spec.shape, spec.dtype) for spec in outputs]))


def _feed_text(argument: str, flow: str, place: str) -> str:
    return f"({argument!r}, {flow!r}, {place})"


def _outside_text(name: str | int, spec: Spec) -> str:
    return repr((name, spec.shape, spec.dtype))


def _digest_of(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
