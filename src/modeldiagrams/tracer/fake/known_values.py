"""The known values of fake tensors."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes

from modeldiagrams.tracer.torch_facts.private_api import storage_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

SMALL = 1 << 15
"""Most elements of a tensor whose values are computed."""


@dataclass(slots=True, eq=False)
class _FakeMemory:
    """Memory of fake tensors."""

    alive: weakref.ref[Any] | None
    real: weakref.ref[Any] | None = None
    """The memory that holds the known values of its views."""
    is_split: bool = False
    """The known values of its views don't share memory: a write reaches only one of them."""
    version: int = 0
    """Increased by every write that doesn't reach the known values of all views."""


class _Known(NamedTuple):
    fake: weakref.ref[Tensor]
    real: Tensor
    memory: _FakeMemory
    version: int
    is_assumed: bool


class KnownValues:
    """Maps fake tensors to real ones. Fake tensors that share memory have real ones that share memory."""

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}
        self._memories: dict[int, _FakeMemory] = {}

    def remember(self, fake: Tensor, real: Tensor, *, is_assumed: bool = False) -> None:
        """Remember what a fake tensor would hold.

        Args:
            fake: The fake tensor, or one on the meta device.
            real: Its values; forgotten if there are many.
            is_assumed: Whether the values follow from an assumption.
        """
        if real.numel() > SMALL or real.is_meta:
            return
        memory, storage = self._memory(fake), storage_of(real)
        before = memory.real() if memory.real else None
        memory.is_split |= storage is None or before not in (None, storage)
        memory.real = None if storage is None else weakref.ref(storage)
        self._known[id(fake)] = _Known(weakref.ref(fake), real, memory, memory.version, is_assumed)

    def remember_given(self, fake: Tensor, given: Tensor) -> None:
        """Remember a copy of the user's tensor, so that writes to the fake one don't reach the original."""
        if given.numel() <= SMALL and not given.is_meta and self.value(fake) is None:
            with _disable_current_modes():
                self.remember(fake, given.detach().clone())

    def value(self, tensor: Tensor) -> Tensor | None:
        """The values of a tensor; None if unknown."""
        if not isinstance(tensor, FakeTensor) and not tensor.is_meta:
            return tensor if tensor.numel() <= SMALL else None
        known = self._entry(tensor)
        return None if known is None else known.real

    def is_assumed(self, value: Any) -> bool:
        """Whether this is a tensor whose values follow from an assumption."""
        known = self._known.get(id(value))
        return known is not None and known.is_assumed and self._entry(value) is known

    def reaches_all_views(self, tensor: Tensor) -> bool:
        """Whether a write to the known values of a tensor reaches those of all views of its memory."""
        known = self._entry(tensor)
        return known is not None and not known.memory.is_split

    def written(self, tensors: Iterable[Tensor], *, is_known: bool) -> None:
        """Forget known values that a write didn't reach.

        Args:
            tensors: The tensors that were written.
            is_known: Whether their known values were written as well.
        """
        for tensor in tensors:
            if not (is_known and self.reaches_all_views(tensor)):
                self._memory(tensor).version += 1

    def _entry(self, tensor: Tensor) -> _Known | None:
        known = self._known.get(id(tensor))
        if known is None or known.fake() is not tensor:
            return None
        memory = self._memory(tensor)
        return known if memory is known.memory and memory.version == known.version else None

    def _memory(self, fake: Tensor) -> _FakeMemory:
        """The memory of a fake tensor; all tensors without memory share one."""
        storage = storage_of(fake)
        memory = self._memories.get(id(storage))
        if memory is None or (memory.alive is not None and memory.alive() is not storage):
            alive = None if storage is None else weakref.ref(storage)
            memory = self._memories[id(storage)] = _FakeMemory(alive, is_split=storage is None)
        return memory
