"""From which outputs of modules another was computed: what autograd knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

__all__ = ["Made", "made_by", "sources"]

_Output = TypeVar("_Output")
Made: TypeAlias = "tuple[int, int]"
"""Number of the op that made a tensor, and which of its results it is. The op itself would keep tensors alive."""
_MOST = 4096
"""Ops between two outputs of modules, at most."""
_CHECKPOINT = "CheckpointFunctionBackward"
"""Reentrant checkpointing: modules that will run in it are between what is before and behind it."""


def made_by(tensor: Tensor) -> Made:
    """What made a tensor."""
    op: Any = tensor.grad_fn
    return (-1 if op is None else op._sequence_nr(), tensor.output_nr)  # noqa: SLF001


def sources(tensor: Tensor, known: Mapping[Made, _Output]) -> list[_Output]:
    """The known tensors from which one was computed, without those behind them."""
    found: dict[Made, _Output] = {}
    seen: set[Made] = set()
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
