"""The losses of steps since the latest frame; those on accelerators are brought along with what a step recorded."""

from __future__ import annotations

from torch import Tensor

from modeldiagrams.errors import OptionError
from modeldiagrams.watching.file.records import Loss
from modeldiagrams.watching.recorder.measure import as_float32

__all__ = ["Losses"]


class Losses:
    """Losses that aren't written yet."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, float | Tensor]] = []

    def add(self, step: int, loss: float | Tensor) -> None:
        """Keep the loss of a step; of a tensor on an accelerator, asking for its value would wait."""
        if isinstance(loss, Tensor):
            if loss.numel() != 1:
                raise OptionError("loss", f"expected one number, got a tensor of shape {tuple(loss.shape)}")
            loss = loss.detach()
            if loss.device.type == "cpu":
                loss = loss.item()
        self._waiting.append((step, loss))

    def tensors(self) -> list[Tensor]:
        """Those that are elsewhere."""
        return [loss for _, loss in self._waiting if isinstance(loss, Tensor)]

    def take(self, values: list[float]) -> list[Loss]:
        """All losses, with the values of `tensors`."""
        brought = iter(values)
        waiting, self._waiting = self._waiting, []
        values = [next(brought) if isinstance(loss, Tensor) else float(loss) for _, loss in waiting]
        return [Loss(step, as_float32(value)) for (step, _), value in zip(waiting, values, strict=True)]

    def forget(self) -> None:
        """Those that nobody will write."""
        self._waiting.clear()
