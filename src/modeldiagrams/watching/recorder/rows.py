"""What one recorded step measured: tensors on their way in, rows on their way out."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import torch

from modeldiagrams.watching.recorder.measure import Measured, measurable, measured, sample_of

if TYPE_CHECKING:
    from torch import Tensor, nn

    from modeldiagrams.watching.file.records import Key
    from modeldiagrams.watching.recorder.measure import Scope

__all__ = ["Rows"]


class Rows:
    """Measured tensors of one phase of one step.

    Attributes:
        measured: In the order in which they came; a key may come several times, from micro-batches.
    """

    def __init__(self, sample: int, turn: int) -> None:
        self.sample, self.turn = sample, turn
        self.measured: list[Measured] = []
        self._seen: dict[int, tuple[weakref.ref[Tensor], int, Measured]] = {}

    def add_once(self, key: Key, tensor: Tensor, unit_dim: int | None = None) -> None:
        """Measure a tensor; the same one, unchanged, only once, however many modules it passes."""
        version = _version(tensor)
        seen = self._seen.get(id(tensor))
        if seen is not None and seen[0]() is tensor and seen[1] == version:
            seen[2].keys.append(key)
            return
        row = self.add(key, tensor, unit_dim=unit_dim)
        if row is not None:
            self._seen[id(tensor)] = (weakref.ref(tensor), version, row)

    @torch.no_grad()
    def add(
        self, key: Key, tensor: Tensor, *, scope: Scope = "data", unit_dim: int | None = None, scaled: bool = False
    ) -> Measured | None:
        """Measure a tensor; None if it can't be."""
        values = measurable(tensor)
        if values is None:
            return None
        scope = scope_of(tensor, scope)
        row = measured(key, values, sample_of(values, self.sample, self.turn), scope, unit_dim)
        row.scaled = scaled
        self.measured.append(row)
        return row

    def release(self) -> None:
        """Forget which tensors were seen."""
        self._seen.clear()


def scope_of(tensor: Tensor | nn.Parameter, otherwise: Scope) -> Scope:
    """Whether a tensor is a part of one that is spread over several processes."""
    placements = getattr(tensor, "placements", None)
    if placements is None:
        return otherwise
    return "shard" if any(placement.is_shard() for placement in placements) else "copy"


def _version(tensor: Tensor) -> int:
    try:
        return tensor._version  # noqa: SLF001
    except RuntimeError:  # made in inference mode, where nothing counts writes
        return 0
