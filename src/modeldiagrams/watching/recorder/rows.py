"""Measurements of one recorded step."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import torch

from modeldiagrams.watching.recorder.measurement import Measurement, get_values, measure, take_sample

if TYPE_CHECKING:
    from torch import Tensor, nn

    from modeldiagrams.watching.file.records import Key
    from modeldiagrams.watching.recorder.measurement import Scope

__all__ = ["Rows"]


class Rows:
    """The measurements of one phase of one step.

    Attributes:
        measured: In the order of measuring; a key may occur several times, once for each micro-batch.
    """

    def __init__(self, sample: int, turn: int) -> None:
        self.sample, self.turn = sample, turn
        self.measured: list[Measurement] = []
        self._seen: dict[int, tuple[weakref.ref[Tensor], int, Measurement]] = {}

    def add_once(self, key: Key, tensor: Tensor, unit_dim: int | None = None) -> None:
        """Measure a tensor, but only once while it is unchanged, however many modules it passes through."""
        version = _get_version(tensor)
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
    ) -> Measurement | None:
        """Measure a tensor; None if it can't be."""
        values = get_values(tensor)
        if values is None:
            return None
        scope = find_scope(tensor, scope)
        row = measure(key, values, take_sample(values, self.sample, self.turn), scope, unit_dim)
        row.scaled = scaled
        self.measured.append(row)
        return row

    def release(self) -> None:
        """Forget which tensors were seen."""
        self._seen.clear()


def find_scope(tensor: Tensor | nn.Parameter, otherwise: Scope) -> Scope:
    """Return the scope of a tensor, by its placements if it is distributed."""
    placements = getattr(tensor, "placements", None)
    if placements is None:
        return otherwise
    return "shard" if any(placement.is_shard() for placement in placements) else "copy"


def _get_version(tensor: Tensor) -> int:
    try:
        return tensor._version  # noqa: SLF001
    except RuntimeError:  # tensors made in inference mode have no version
        return 0
