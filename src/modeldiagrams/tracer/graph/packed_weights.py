"""Finds weights that are stored as narrow integers: what a product multiplies its input by is computed from them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from modeldiagrams.tracer.values.pass_records import GraphInput, Op

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.tracer.values.pass_records import PassRecord, Value

__all__ = ["find_packed_weights"]

_NOT_PACKED = frozenset({"float64", "float32", "float16", "bfloat16", "int64", "bool", "complex64", "complex128"})
"""Dtypes of usual weights, and of positions and masks."""
_Sources = frozenset[GraphInput]


def find_packed_weights(recording: PassRecord, weights: Iterable[GraphInput]) -> dict[GraphInput, int]:
    """The number of weights in each parameter or buffer of narrow numbers; 0 for those that scale or shift them."""
    found: dict[GraphInput, int] = {}
    if all(weight.value.spec.dtype in _NOT_PACKED for weight in weights):
        return found
    known: dict[Value, _Sources] = {}  # values that don't depend on the inputs → the weights they are computed from
    for op in recording.steps:
        if type(op) is not Op:
            continue
        read = [value for _, value, flow in op.inputs if flow != "shape"]
        sources = [_sources(value, known) for value in read]
        if None not in sources:
            known.update(dict.fromkeys(op.outputs, frozenset().union(*filter(None, sources))))
        elif op.flops:
            for value, stored in zip(read, sources, strict=True):
                if stored:
                    _add(found, stored, _count_factors(op, value))
    return found


def _sources(value: Value, known: dict[Value, _Sources]) -> _Sources | None:
    origin = value.origin
    if type(origin) is not GraphInput:
        return known.get(value)
    return None if origin.kind == "input" else frozenset({origin} if origin.kind != "constant" else ())


def _count_factors(op: Op, value: Value) -> int:
    """The number of weights in a factor of a product; a kernel for packed ones tells by its cost."""
    result = op.outputs[0].spec.shape if op.outputs else None
    if type(value.origin) is GraphInput and "pack_mm" in op.site.function.short and result and op.flops:
        n_rows = math.prod(size for size in result[:-1] if type(size) is int)
        return op.flops // (2 * max(1, n_rows))
    return math.prod(size for size in value.spec.shape or () if type(size) is int)


def _add(found: dict[GraphInput, int], sources: _Sources, n: int) -> None:
    packed = sorted((s for s in sources if s.value.spec.dtype not in _NOT_PACKED), key=lambda s: s.id)
    if not packed:
        return
    largest = max(packed, key=lambda source: source.value.spec.nbytes)
    found[largest] = max(found.get(largest, 0), n)
    for other in sources - {largest}:
        found.setdefault(other, 0)
