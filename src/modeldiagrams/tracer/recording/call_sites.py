"""What calls of one function from one line with equal non-tensor arguments share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from modeldiagrams.tracer.torch_facts.functions import SHAPE_ONLY, Function, plain
from modeldiagrams.tracer.torch_facts.nested_values import flatten
from modeldiagrams.tracer.values.records import CallSite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.ir.graph import Flow

_MAX_DEPTH = 8


def call_site_of(function: Function, bound: Sequence[tuple[str, Any]], source: str | None) -> CallSite:
    """The call site of a call.

    Args:
        function: The function.
        bound: Its arguments by name.
        source: ``file:line`` in user code.
    """
    found: list[tuple[str, Tensor]] = []
    flows: list[Flow | None] = []
    read_for_shape = SHAPE_ONLY.get(function.short, -1)
    for i, (name, value) in enumerate(bound):
        flatten(value, name, found)
        is_overwritten = name == "out" and "::" not in function.name
        flow: Flow | None = "shape" if i == read_for_shape or is_overwritten else "data"
        if i == 0 and function.replaces:  # replacing a tensor's data doesn't read the old content
            flow = None
        flows += [flow] * (len(found) - len(flows))
    return CallSite(
        function.name,
        function.short,
        source,
        function.opaque,
        function.takes_python_values,
        arguments={name: plain(value) for name, value in bound if name[0] != "_" and not _is_only_tensors(value)},
        slots=tuple((argument, flow) for (argument, _), flow in zip(found, flows, strict=True)),
    )


def _is_only_tensors(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and depth < _MAX_DEPTH and all(_is_only_tensors(item, depth + 1) for item in value)
    return isinstance(value, Tensor)
