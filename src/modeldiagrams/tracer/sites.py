"""What calls of one function from one line with like arguments have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from modeldiagrams.tracer import ops
from modeldiagrams.tracer.recording import Site
from modeldiagrams.tracer.walk import flatten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.graph import Flow

__all__ = ["site_of"]

_MAX_DEPTH = 8


def site_of(function: ops.Function, bound: Sequence[tuple[str, Any]], source: str | None) -> Site:
    """What calls with these arguments share.

    Args:
        function: What is called.
        bound: Its arguments by name.
        source: ``file:line`` in user code.
    """
    found: list[tuple[str, Tensor]] = []
    flows: list[Flow | None] = []
    read_for_shape = ops.SHAPE_ONLY.get(function.short, -1)
    for i, (name, value) in enumerate(bound):
        flatten(value, name, found)
        is_overwritten = name == "out" and "::" not in function.name
        flow: Flow | None = "shape" if i == read_for_shape or is_overwritten else "data"
        if i == 0 and function.replaces:  # the old content of a tensor is not read when its data is replaced
            flow = None
        flows += [flow] * (len(found) - len(flows))
    return Site(
        function.name,
        function.short,
        source,
        function.opaque,
        function.takes_values,
        arguments={name: ops.plain(value) for name, value in bound if name[0] != "_" and not _is_only_tensors(value)},
        slots=tuple((place, flow) for (place, _), flow in zip(found, flows, strict=True)),
    )


def _is_only_tensors(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and depth < _MAX_DEPTH and all(_is_only_tensors(item, depth + 1) for item in value)
    return isinstance(value, Tensor)
