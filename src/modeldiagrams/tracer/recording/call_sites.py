"""What calls of one function from one line with equal non-tensor arguments share: models repeat them in every layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from modeldiagrams.tracer.torch_facts.functions import SHAPE_ONLY, Function, plain
from modeldiagrams.tracer.torch_facts.nested_values import closure_tensors, flatten
from modeldiagrams.tracer.torch_facts.private_api import PLAIN_TENSORS
from modeldiagrams.tracer.values.records import CallSite

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modeldiagrams.ir.graph import Flow

_MAX_DEPTH = 8
_ATOMS = frozenset(
    {bool, int, str, type(None), type(...), torch.dtype, torch.device, torch.layout, torch.memory_format}
)
_INTEGERS = frozenset({int})
_SEQUENCES = (list, tuple)


def call_site_of(function: Function, bound: Sequence[tuple[str, Any]], source: str | None) -> CallSite:
    """The call site of a call with these arguments by name, from ``file:line`` of user code."""
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


def call_key(values: Iterable[Any], tensors: list[Tensor], depth: int = 0) -> list[Any]:
    """The key of arguments, hashable items: equal for arguments that a graph shows alike.

    All tensors found are appended to `tensors`, also those in closures of functions, in the order of `flatten`.
    """
    found: list[Any] = []
    for value in values:
        kind = type(value)
        if kind in PLAIN_TENSORS:
            tensors.append(value)
            found.append(Tensor)
        elif kind in _ATOMS:
            found += (kind, value)
        elif kind is tuple and _INTEGERS.issuperset(map(type, value)):  # sizes, strides
            found.append((int, *value))
        elif kind is float:
            found += (float, value or repr(value))  # 0.0 equals -0.0
        elif isinstance(value, Tensor):
            tensors.append(value)
            found.append(Tensor)
        elif isinstance(value, _SEQUENCES) and depth < _MAX_DEPTH:
            found.append((list, *call_key(value, tensors, depth + 1)))
        elif isinstance(value, dict) and depth < _MAX_DEPTH:
            found.append((dict, *call_key(value, [], depth + 1), *call_key(value.values(), tensors, depth + 1)))
        elif isinstance(value, slice):
            found.append((slice, *call_key((value.start, value.stop, value.step), tensors, depth + 1)))
        else:
            found.append(object())
            tensors += [tensor for _, tensor in closure_tensors(value, depth)]
    return found
