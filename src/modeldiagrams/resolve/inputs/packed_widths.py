"""Recurrent layers in passes of a search: PyTorch takes a packed sequence of any width and reads past their weights."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn.utils.rnn import PackedSequence

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["widths_checked"]


@contextmanager
def widths_checked(model: nn.Module) -> Iterator[None]:
    """Let recurrent layers refuse packed sequences of another width."""

    def check(layer: Any, args: tuple[Any, ...]) -> None:
        width = args[0].data.shape[-1] if args and isinstance(args[0], PackedSequence) else layer.input_size
        if width != layer.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {layer.input_size}, got {width}")

    handles = [layer.register_forward_pre_hook(check) for layer in model.modules() if isinstance(layer, nn.RNNBase)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
