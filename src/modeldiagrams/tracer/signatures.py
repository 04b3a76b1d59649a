"""Structural hash of every module call: equal for identical blocks, whatever their names and weights.

A hash covers, for every op inside: its name, arguments and depth, the classes of the modules between, and for every
value going in whether it was made inside (and where), enters from outside (and as which one), or is a weight, with
its shape and dtype.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.recording import Call, Op, Recording, Source

if TYPE_CHECKING:
    from modeldiagrams.tracer.recording import Feed, Value

__all__ = ["signatures"]


def signatures(recording: Recording, inner: dict[int, dict[str, str]]) -> dict[int, str]:
    """Signatures by ``id(call)``.

    Args:
        recording: What happened.
        inner: id(op) → the weights that belong to it, by argument.

    Returns:
        32 hex digits for the root and for every module call.
    """
    hashers: dict[int, _Hasher] = {id(recording.root): _Hasher(recording.root)}
    for step in recording.steps:
        if isinstance(step, Call):
            hashers[id(step)] = _Hasher(step)
            _tell(step.holder, hashers, f"call {_class_name(step)}", step)
        else:
            _tell(step.call, hashers, f"op {step.name} {sorted(step.arguments.items())!r}", step, inner.get(id(step)))
    return {key: hasher.digest() for key, hasher in hashers.items()}


def _tell(
    call: Call | None, hashers: dict[int, _Hasher], text: str, step: Op | Call, weights: dict[str, str] | None = None
) -> None:
    """Let every call around a step take it in."""
    depth = 0
    while call is not None:
        hashers[id(call)].take(f"{depth} {text}", step, weights or {})
        call, depth = call.holder, depth + 1


class _Hasher:
    def __init__(self, call: Call) -> None:
        self._hash = hashlib.blake2b(_class_name(call).encode(), digest_size=16)
        self._made: dict[int, int] = {}
        self._entered: dict[Value, int] = {}

    def take(self, text: str, step: Op | Call, weights: dict[str, str]) -> None:
        if isinstance(step, Op):
            self._made[id(step)] = len(self._made)
            feeds = [self._feed(feed, feed.argument in weights) for feed in step.feeds]
            text = f"{text} {feeds} {[(value.shape, value.dtype) for value in step.outputs]}"
        self._hash.update(text.encode() + b"\n")

    def digest(self) -> str:
        return self._hash.hexdigest()

    def _feed(self, feed: Feed, is_weight: bool) -> tuple[Any, ...]:  # noqa: FBT001 - internal, called once
        value = feed.value
        if id(value.origin) in self._made:
            place: tuple[Any, ...] = ("inside", self._made[id(value.origin)], value.index)
        elif is_weight or (isinstance(value.origin, Source) and value.origin.kind in ("parameter", "buffer")):
            place = ("weight",)
        else:
            place = ("outside", self._entered.setdefault(value, len(self._entered)))
        return (feed.argument, feed.flow, *place, value.shape, value.dtype)


def _class_name(call: Call) -> str:
    return type(call.module).__qualname__
