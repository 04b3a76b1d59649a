"""What a call looks like apart from its tensors, as something to look up: models run the same call for every layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from modeldiagrams.tracer.walk import closed_over

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["outline"]

_TENSORS = frozenset({Tensor, nn.Parameter})
_ATOMS = frozenset(
    {bool, int, str, type(None), type(...), torch.dtype, torch.device, torch.layout, torch.memory_format}
)
_SEQUENCES = (list, tuple)
_MAX_DEPTH = 8


def outline(values: Iterable[Any], tensors: list[Tensor], depth: int = 0) -> list[Any]:
    """Describe values so that equal descriptions stand for values that read alike.

    Args:
        values: Arguments; lists, tuples, dicts and slices are entered, at most 8 levels deep.
        tensors: Every tensor found is appended to it, also those that functions among the values use from outside.
        depth: How deep the values lie.

    Returns:
        Hashable items. What can't be compared by value is described by something that equals nothing else.
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
            found.append((list, *outline(value, tensors, depth + 1)))
        elif isinstance(value, dict) and depth < _MAX_DEPTH:
            found.append((dict, *outline(value, [], depth + 1), *outline(value.values(), tensors, depth + 1)))
        elif isinstance(value, slice):
            found.append((slice, *outline((value.start, value.stop, value.step), tensors, depth + 1)))
        else:
            found.append(object())
            tensors += [tensor for _, tensor in closed_over(value, depth)]
    return found
