"""Snapshot of tensors: content, memory, gradients and write counters."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor, nn

from modeldiagrams.tracer.restore.objects import attempt
from modeldiagrams.tracer.torch_facts.private_api import (
    UninitializedTensor,
    memory_key,
    no_dispatch_modes,
    set_version,
    unseen_by_modes,
    versions_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Copy: TypeAlias = "tuple[Tensor, Tensor | None]"
"""Another tensor on the same memory, for one that is given other memory, and one with the same content."""

_MAX_SMALL = 2**13
"""Elements of a tensor that is copied at once: more than the statistics of batch norm have."""


class TensorSnapshot:
    """Remembers tensors and restores them.

    Small ones that are no parameters are copied at once, because some functions write them without saying so (batch
    norm its statistics). Others are copied when something is about to write to them.
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        """Remember tensors, each of which is given once."""
        with _unobserved():
            grads = {id(tensor): tensor.grad for tensor in tensors if tensor.is_leaf}
            self.grads = [grad for grad in grads.values() if grad is not None]
            """Gradients that are there already."""
            self._tensors = [*tensors, *self.grads]
            self._classes = list(map(type, self._tensors))
            self._versions = versions_of(self._tensors)
            self._grads = [grads.get(id(tensor)) for tensor in tensors]
            self._copies: dict[int, _Copy] = {}
            self._by_memory: dict[int, list[Tensor]] = {}
            for tensor in tensors:
                if not isinstance(tensor, nn.Parameter) and _is_small(tensor):
                    self._copy(tensor)

    def before_write(self, tensor: Tensor) -> None:
        """Something is about to write to this tensor, perhaps a view of a parameter."""
        if not self._by_memory:
            for known in self._tensors:
                self._by_memory.setdefault(memory_key(known) or id(known), []).append(known)
        for known in self._by_memory.get(memory_key(tensor) or id(tensor), ()):
            if id(known) not in self._copies:
                with _unobserved():
                    self._copy(known)

    def before_backward(self) -> None:
        """A backward pass adds to the gradients that are there."""
        for grad in self.grads:
            self.before_write(grad)

    def restore(self) -> None:
        """Restore everything."""
        with torch.inference_mode(mode=False), torch.no_grad(), _unobserved():
            for tensor, class_ in zip(self._tensors, self._classes, strict=True):
                if type(tensor) is not class_:  # a lazy parameter was given its shape
                    attempt(_restore_class, tensor, class_)
                if id(tensor) in self._copies:
                    attempt(_restore_content, tensor, *self._copies[id(tensor)])
            for tensor, now, before in zip(self._tensors, versions_of(self._tensors), self._versions, strict=True):
                if now != before:
                    set_version(tensor, before)
            for tensor, grad in zip(self._tensors, self._grads, strict=False):
                if tensor.is_leaf and tensor.grad is not grad:
                    attempt(setattr, tensor, "grad", grad)

    def _copy(self, tensor: Tensor) -> None:
        same = _unless_unsupported(Tensor.detach, tensor)
        if same is not None:
            self._copies[id(tensor)] = (same, None if tensor.is_meta else _unless_unsupported(Tensor.clone, same))


@contextlib.contextmanager
def _unobserved() -> Iterator[None]:
    """Neither tensors' own classes nor modes around the trace see what is done inside."""
    with unseen_by_modes(), no_dispatch_modes():
        yield


def _is_small(tensor: Tensor) -> bool:
    return not isinstance(tensor, UninitializedTensor) and tensor.numel() <= _MAX_SMALL


def _restore_class(tensor: Tensor, class_: type) -> None:
    tensor.data = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    tensor.__class__ = class_


def _restore_content(tensor: Tensor, same: Tensor, copy: Tensor | None) -> None:
    if not _shows_same_memory(tensor, same):
        tensor.data = same
    if copy is not None and not _unless_unsupported(torch.equal, tensor, copy):
        tensor.copy_(copy)


def _shows_same_memory(tensor: Tensor, other: Tensor) -> bool:
    """Whether both show the same elements of the same memory; of tensors that can't say, whether they may."""
    is_same = _unless_unsupported(Tensor.is_set_to, tensor, other)
    return tensor.shape == other.shape if is_same is None else bool(is_same) and tensor.dtype == other.dtype


def _unless_unsupported(run: Callable[..., Any], *args: Any) -> Any:
    """The result, or None: lazy tensors have no content yet, and not every kind of tensor can do everything."""
    try:
        return run(*args)
    except (RuntimeError, ValueError, NotImplementedError):
        return None
