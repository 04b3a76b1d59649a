"""Call sites: what calls of one function from one line with equal non-tensor arguments have in common.

Computed once, because models repeat them in every layer.
"""

from __future__ import annotations

from itertools import chain, compress
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from modeldiagrams.tracer.torch_facts.functions import SHAPE_ONLY, Function, to_plain_data
from modeldiagrams.tracer.torch_facts.nested_values import closure_tensors, collect_tensors
from modeldiagrams.tracer.torch_facts.private_api import PLAIN_TENSORS
from modeldiagrams.tracer.values.pass_records import CallSite

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modeldiagrams.ir.graph import Flow

_MAX_DEPTH = 8
_ATOMS = frozenset(
    {bool, int, str, type(None), type(...), torch.dtype, torch.device, torch.layout, torch.memory_format}
)
_INTEGERS = frozenset({int})
_USUAL = PLAIN_TENSORS | _ATOMS | {float, tuple}
_SEQUENCES = (list, tuple)
_known: dict[tuple[type, ...], tuple[Sequence[bool], ...]] = {}
"""Cache of `_usual_arguments` by the classes of a call's arguments; never holds a class of the user."""


def make_call_site(function: Function, bound: Sequence[tuple[str, Any]], source: str | None) -> CallSite:
    """Make the call site of a call with these named arguments, made at ``file:line`` of user code."""
    found: list[tuple[str, Tensor]] = []
    flows: list[Flow | None] = []
    read_for_shape = SHAPE_ONLY.get(function.short, -1)
    for i, (name, value) in enumerate(bound):
        collect_tensors(value, name, found)
        is_overwritten = name == "out" and "::" not in function.name
        flow: Flow | None = "shape" if i == read_for_shape or is_overwritten else "data"
        if i == 0 and function.replaces:  # replacing a tensor's data doesn't read the old content
            flow = None
        flows += [flow] * (len(found) - len(flows))
    return CallSite(
        function,
        source,
        arguments={
            name: to_plain_data(value) for name, value in bound if name[0] != "_" and not _is_only_tensors(value)
        },
        slots=tuple((argument, flow) for (argument, _), flow in zip(found, flows, strict=True)),
    )


def _is_only_tensors(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and depth < _MAX_DEPTH and all(_is_only_tensors(item, depth + 1) for item in value)
    return isinstance(value, Tensor)


def call_key(values: Sequence[Any], tensors: list[Tensor]) -> Sequence[Any]:
    """Make a hashable key of arguments, equal only for arguments that a graph shows alike.

    Appends all tensors to `tensors`, in the order of `collect_tensors`, including tensors in closures of functions.
    """
    kinds = tuple(map(type, values))
    usual = _known.get(kinds)
    if usual is None:
        if not _USUAL.issuperset(kinds):
            return _key_in_detail(values, tensors)
        usual = _known[kinds] = _usual_arguments(kinds)
    if not usual:  # tensors only
        tensors += values
        return kinds
    are_tensors, are_others, are_tuples, are_floats = usual
    if are_tuples and not _INTEGERS.issuperset(map(type, chain.from_iterable(compress(values, are_tuples)))):
        return _key_in_detail(values, tensors)
    if are_floats and not all(compress(values, are_floats)):  # 0.0 equals -0.0
        return _key_in_detail(values, tensors)
    tensors += compress(values, are_tensors)
    return kinds, *compress(values, are_others)


def _usual_arguments(kinds: tuple[type, ...]) -> tuple[Sequence[bool], ...]:
    """Tell which arguments are tensors, which are not, and which of those are tuples or floating point numbers.

    Empty if all are tensors.
    """
    if PLAIN_TENSORS.issuperset(kinds):
        return ()
    are_tensors = [kind in PLAIN_TENSORS for kind in kinds]
    are_tuples = [kind is tuple for kind in kinds] if tuple in kinds else ()
    are_floats = [kind is float for kind in kinds] if float in kinds else ()
    return are_tensors, [not is_tensor for is_tensor in are_tensors], are_tuples, are_floats


def _key_in_detail(values: Iterable[Any], tensors: list[Tensor], depth: int = 0) -> list[Any]:
    """Make the `call_key` of unusual arguments."""
    found: list[Any] = []
    for value in values:
        kind = type(value)
        if kind in _ATOMS:
            found += (kind, value)
        elif kind is tuple and _INTEGERS.issuperset(map(type, value)):  # sizes, strides
            found.append((int, *value))
        elif kind is float:
            found += (float, value or repr(value))
        elif isinstance(value, Tensor):
            tensors.append(value)
            found.append(Tensor)
        elif isinstance(value, _SEQUENCES) and depth < _MAX_DEPTH:
            found.append((list, *_key_in_detail(value, tensors, depth + 1)))
        elif isinstance(value, dict) and depth < _MAX_DEPTH:
            keys = _key_in_detail(value, [], depth + 1)
            found.append((dict, *keys, *_key_in_detail(value.values(), tensors, depth + 1)))
        elif isinstance(value, slice):
            found.append((slice, *_key_in_detail((value.start, value.stop, value.step), tensors, depth + 1)))
        else:
            found.append(object())
            tensors += [tensor for _, tensor in closure_tensors(value, depth)]
    return found
