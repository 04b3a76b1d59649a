"""The memory of a model's weights, of their gradients, and of an optimiser's state."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.ir.graph import Graph, ParameterSpec

__all__ = ["OPTIMIZERS", "Optimizer", "ParameterMemory", "list_weights", "measure_parameters"]

Optimizer: TypeAlias = Literal["adam", "sgd", "none"]
OPTIMIZERS: dict[Optimizer, int] = {"adam": 2, "sgd": 1, "none": 0}
"""How many numbers each keeps of every weight that it trains, in the weight's dtype; SGD with momentum."""


class ParameterMemory(NamedTuple):
    """Bytes."""

    weights: int
    gradients: int
    optimizer: int


def measure_parameters(graph: Graph, optimizer: Optimizer) -> ParameterMemory:
    """Measure weights, the gradients of those that are trained, and the state that an optimiser keeps of them."""
    sizes = [(nbytes, spec.trainable) for spec, nbytes in list_weights(graph)]
    trained = sum(nbytes for nbytes, is_trained in sizes if is_trained)
    return ParameterMemory(sum(nbytes for nbytes, _ in sizes), trained, trained * OPTIMIZERS[optimizer])


def list_weights(graph: Graph) -> Iterator[tuple[ParameterSpec, int]]:
    """Yield every weight with its bytes; a tied one once, and packed ones, which are buffers, as they are stored."""
    seen = set[str]()
    for name, spec in graph.parameters.items():
        is_weight = spec.kind == "parameter" or spec.elements is not None
        if is_weight and spec.shape is not None and seen.isdisjoint(spec.tied):
            yield spec, prod(spec.shape) * _count_bits(spec.dtype) // 8 if spec.nbytes is None else spec.nbytes
            seen.add(name)


def _count_bits(dtype: str) -> int:
    """Return the bits of one element: ``bfloat16`` → 16, ``float8_e4m3fn`` → 8, ``bool`` → 8."""
    bits = re.search(r"\d+", dtype)
    return int(bits[0]) if bits else 8
