"""Snapshot of tensors: content, memory, gradients and write counters."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor, nn

from modeldiagrams.tracer.restore.object_snapshot import attempt, restore_content
from modeldiagrams.tracer.torch_facts.private_api import (
    PLAIN_TENSORS,
    UninitializedTensor,
    memory_key,
    no_dispatch_modes,
    parts_of,
    set_version,
    unseen_by_modes,
    versions_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Copy: TypeAlias = "tuple[Tensor, Tensor, Tensor | None]"
"""A tensor, another on the same memory, for the case that it is given other memory, and one with the same content."""

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
            tensors, self._wrappers = _with_parts(tensors)
            self._grads = [tensor.grad if tensor.is_leaf else None for tensor in tensors]
            self.grads = list({id(grad): grad for grad in self._grads if grad is not None}.values())
            """Gradients that are there already."""
            self._tensors = [*tensors, *self.grads]
            self._classes = list(map(type, self._tensors))
            self._versions = versions_of(self._tensors)
            self._copies: dict[int, _Copy] = {}
            """By id of the tensor."""
            self._by_memory: dict[int, list[Tensor]] = {}
            for tensor in tensors:
                is_parameter = type(tensor) is nn.Parameter or isinstance(tensor, nn.Parameter)
                # the tensors inside of a wrapper have its content
                if not is_parameter and id(tensor) not in self._wrappers and _is_small(tensor):
                    self._copy(tensor)

    def before_write(self, tensor: Tensor) -> None:
        """Something is about to write to this tensor, perhaps a view of a parameter."""
        for part in _parts(tensor):
            self.before_write(part)
        if not self._by_memory:
            for known in self._tensors:
                self._by_memory.setdefault(memory_key(known) or id(known), []).append(known)
        for known in self._by_memory.get(memory_key(tensor) or id(tensor), ()):
            if id(known) not in self._copies and id(known) not in self._wrappers:
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
            self._restore_contents()
            for tensor, now, before in zip(self._tensors, versions_of(self._tensors), self._versions, strict=True):
                if now != before:
                    set_version(tensor, before)
            for tensor, grad in zip(self._tensors, self._grads, strict=False):
                if tensor.is_leaf and tensor.grad is not grad:
                    attempt(setattr, tensor, "grad", grad)

    def _restore_contents(self) -> None:
        for tensor, attributes in self._wrappers.values():
            attempt(restore_content, vars(tensor), attributes)
        for copy in self._copies.values():
            attempt(_restore_content, *copy)

    def _copy(self, tensor: Tensor) -> None:
        same = _unless_unsupported(Tensor.detach, tensor)
        if same is not None:
            copy = None if tensor.is_meta or tensor.is_nested else _unless_unsupported(Tensor.clone, same)
            self._copies[id(tensor)] = tensor, same, copy


@contextlib.contextmanager
def _unobserved() -> Iterator[None]:
    """Neither tensors' own classes nor modes around the trace see what is done inside."""
    with unseen_by_modes(), no_dispatch_modes():
        yield


def _with_parts(tensors: Sequence[Tensor]) -> tuple[list[Tensor], dict[int, tuple[Tensor, dict[str, Any]]]]:
    """Tensors and the tensors inside of them, each once; and those of wrapper classes with their attributes, by id."""
    found = {id(tensor): tensor for tensor in tensors}
    wrappers: dict[int, tuple[Tensor, dict[str, Any]]] = {}
    pending = [tensor for tensor in tensors if type(tensor) is not nn.Parameter]
    while pending:
        tensor = pending.pop()
        parts = _parts(tensor)
        if parts:
            wrappers[id(tensor)] = tensor, dict(vars(tensor))
        elif type(tensor) is Tensor and tensor.is_nested:
            parts = list(tensor.unbind())  # views of its memory
        pending += [part for part in parts if id(part) not in found]
        found.update((id(part), part) for part in parts)
    return list(found.values()), wrappers


def _parts(tensor: Tensor) -> list[Tensor]:
    """The tensors inside a tensor of a wrapper class; none if its class can't say."""
    if type(tensor) in PLAIN_TENSORS:
        return []
    with contextlib.suppress(Exception):  # of the user's class
        return parts_of(tensor)
    return []


def _is_small(tensor: Tensor) -> bool:
    return not isinstance(tensor, UninitializedTensor) and tensor.numel() <= _MAX_SMALL


def _restore_class(tensor: Tensor, class_: type) -> None:
    tensor.data = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    tensor.__class__ = class_


def _restore_content(tensor: Tensor, same: Tensor, copy: Tensor | None) -> None:
    if not _shows_same_memory(tensor, same):
        tensor.data = same
    if copy is None or _unless_unsupported(torch.equal, tensor, copy):
        return
    if tensor.layout is not torch.strided:
        tensor.resize_as_sparse_(copy)
    else:
        for dimension, stride in enumerate(tensor.stride()):
            if stride == 0 and tensor.shape[dimension]:  # expanded: all show the same elements
                tensor, copy = (each.narrow(dimension, 0, 1) for each in (tensor, copy))
    with torch.inference_mode() if tensor.is_inference() else torch.no_grad():
        tensor.copy_(copy)


def _shows_same_memory(tensor: Tensor, other: Tensor) -> bool:
    """Whether both show the same elements of the same memory; of tensors that can't say, whether they may."""
    is_same = _unless_unsupported(Tensor.is_set_to, tensor, other)
    if is_same is None:
        return not tensor.is_nested and tensor.shape == other.shape
    return bool(is_same) and tensor.dtype == other.dtype


def _unless_unsupported(run: Callable[..., Any], *args: Any) -> Any:
    """The result, or None: lazy tensors have no content yet, and not every kind of tensor can do everything."""
    try:
        return run(*args)
    except (RuntimeError, ValueError, NotImplementedError):
        return None
