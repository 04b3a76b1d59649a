"""Structural hash of every module call: equal for identical blocks, whatever their names and weights.

A hash covers, for every op inside: its name, arguments and outputs, and for every value going in whether it was made
inside (and where), enters from outside (and as which one), or is a weight, with its shape and dtype. A module call
inside counts with its own signature and the values that enter it.
"""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.recording import Call, Op, Recording, Site, Source

if TYPE_CHECKING:
    from modeldiagrams.tracer.recording import Value

__all__ = ["signatures"]


def signatures(recording: Recording) -> dict[int, str]:
    """Signatures by ``id(call)``: 32 hex digits for the root and for every module call."""
    calls = [recording.root, *(step for step in recording.steps if isinstance(step, Call))]
    work = _Work(recording)
    for call in reversed(calls):  # those inside come first
        work.sign(call)
    return work.signatures


class _Work:
    def __init__(self, recording: Recording) -> None:
        self.signatures: dict[int, str] = {}
        self._inside: dict[int, list[Op | Call]] = {}
        self._ordinals: dict[int, int] = {}
        self._entered: dict[int, list[Value]] = {}
        """id(call) → values that enter it from outside, in the order of their first use."""
        self._op = functools.cache(_op_text)
        self._outside = functools.cache(_outside_text)
        self._digest = functools.cache(_digest_of)
        for step in recording.steps:
            holder = step.holder if isinstance(step, Call) else step.call
            siblings = self._inside.setdefault(id(holder), [])
            self._ordinals[id(step)] = len(siblings)
            siblings.append(step)

    def sign(self, call: Call) -> None:
        """Compute one call's signature from its direct steps; those of the calls inside are known already."""
        entered: dict[Value, int] = {}
        parts = [repr(type(call.module).__qualname__)]
        for step in self._inside.get(id(call), ()):
            if isinstance(step, Op):
                parts.append(self._op(step.site, *[(value.shape, value.dtype) for value in step.outputs]))
                for argument, value, flow in step.feeds:
                    parts.append(f"({argument!r}, {flow!r}, {self._place(value, call, entered)})")
            else:
                parts.append(repr(self.signatures[id(step)]))
                parts += [self._place(value, call, entered) for value in self._entered[id(step)]]
        self._entered[id(call)] = list(entered)
        self.signatures[id(call)] = self._digest(f"[{', '.join(parts)}]")

    def _place(self, value: Value, call: Call, entered: dict[Value, int]) -> str:
        """Where a value comes from, seen from inside a call."""
        origin = value.origin
        if isinstance(origin, Source):
            if origin.kind in ("parameter", "buffer"):
                return self._outside("weight", value.shape, value.dtype)
            return self._outside(entered.setdefault(value, len(entered)), value.shape, value.dtype)
        path = f"[{value.index}, {self._ordinals[id(origin)]}"
        holder: Call | None = origin.call
        while holder is not call:
            if holder is None or holder.holder is None:
                return self._outside(entered.setdefault(value, len(entered)), value.shape, value.dtype)
            path += f", {self._ordinals[id(holder)]}"
            holder = holder.holder
        return path + "]"


def _op_text(site: Site, *outputs: tuple[Any, str]) -> str:
    return repr((site.name, sorted(site.arguments.items()), list(outputs)))


def _outside_text(name: str | int, shape: Any, dtype: str) -> str:
    return repr((name, shape, dtype))


def _digest_of(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
