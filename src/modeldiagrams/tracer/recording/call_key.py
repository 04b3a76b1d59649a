"""A hashable key of a call without its tensors, because models repeat the same call in every layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from modeldiagrams.tracer.torch_facts.nested_values import closure_tensors

if TYPE_CHECKING:
    from collections.abc import Iterable

_TENSORS = frozenset({Tensor, nn.Parameter})
_ATOMS = frozenset(
    {bool, int, str, type(None), type(...), torch.dtype, torch.device, torch.layout, torch.memory_format}
)
_SEQUENCES = (list, tuple)
_MAX_DEPTH = 8


def call_key(values: Iterable[Any], tensors: list[Tensor], depth: int = 0) -> list[Any]:
    """The key of arguments: equal for arguments that a graph shows alike.

    Args:
        values: Arguments; lists, tuples, dicts and slices are entered, at most 8 levels deep.
        tensors: All tensors found are appended, also those in closures of functions, in the order of `flatten`.
        depth: Nesting depth of the values.

    Returns:
        Hashable items; a new object for each value that can't be compared.
    """
    found: list[Any] = []
    for value in values:
        kind = type(value)
        if kind in _TENSORS:
            tensors.append(value)
            found.append(Tensor)
        elif kind in _ATOMS:
            found += (kind, value)
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
