"""Finds out from autograd from which module outputs a tensor was computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

__all__ = ["Origin", "find_origin", "find_sources"]

_Output = TypeVar("_Output")
Origin: TypeAlias = "tuple[int, int]"
"""The number of the op that made a tensor, and the index of the result. The op itself would keep tensors alive."""
_MOST = 4096
"""The maximum number of ops between two module outputs."""
_CHECKPOINT = "CheckpointFunctionBackward"
"""Reentrant checkpointing: the modules inside lie between its inputs and outputs, so the search stops here."""


def find_origin(tensor: Tensor) -> Origin:
    """Return the op that made a tensor, and the index of the result."""
    op: Any = tensor.grad_fn
    return (-1 if op is None else op._sequence_nr(), tensor.output_nr)  # noqa: SLF001


def find_sources(tensor: Tensor, known: Mapping[Origin, _Output]) -> list[_Output]:
    """Find the nearest known tensors from which a tensor was computed."""
    found: dict[Origin, _Output] = {}
    seen: set[Origin] = set()
    waiting: list[Any] = [tensor.grad_fn] if tensor.grad_fn is not None else []
    while waiting and len(seen) < _MOST:
        for op, result in waiting.pop().next_functions:
            made = (-1, 0) if op is None else (op._sequence_nr(), result)  # noqa: SLF001
            if made in seen or op is None:
                continue
            seen.add(made)
            if made in known:
                found[made] = known[made]
            elif op.name() != _CHECKPOINT:
                waiting.append(op)
    return list(found.values())
