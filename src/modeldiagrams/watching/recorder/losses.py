"""Losses since the latest frame; those on accelerators are copied together with the measurements of a step."""

from __future__ import annotations

from torch import Tensor

from modeldiagrams.errors import OptionError
from modeldiagrams.watching.file.records import Loss
from modeldiagrams.watching.recorder.measurement import as_float32

__all__ = ["Losses"]


class Losses:
    """Losses that are not written yet."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, float | Tensor]] = []

    def add(self, step: int, loss: float | Tensor) -> None:
        """Add the loss of a step; a tensor on an accelerator is kept, because reading its value would synchronize."""
        if isinstance(loss, Tensor):
            if loss.numel() != 1:
                raise OptionError("loss", f"expected one number, got a tensor of shape {tuple(loss.shape)}")
            loss = loss.detach()
            if loss.device.type == "cpu":
                loss = loss.item()
        self._waiting.append((step, loss))

    def tensors(self) -> list[Tensor]:
        """Return the losses that are still on an accelerator."""
        return [loss for _, loss in self._waiting if isinstance(loss, Tensor)]

    def take(self, values: list[float]) -> list[Loss]:
        """Remove and return all losses, given the values of `tensors`."""
        brought = iter(values)
        waiting, self._waiting = self._waiting, []
        values = [next(brought) if isinstance(loss, Tensor) else float(loss) for _, loss in waiting]
        return [Loss(step, as_float32(value)) for (step, _), value in zip(waiting, values, strict=True)]

    def forget(self) -> None:
        """Drop all losses, in a process that writes none."""
        self._waiting.clear()
