"""The tensors of a model are afterwards what they were before: content, memory, gradients, hooks, write counters."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor

from modeldiagrams.tracer.belongings import put_contents
from modeldiagrams.tracer.internals import (
    UninitializedTensor,
    memory_key,
    memory_keys,
    no_dispatch_modes,
    own_buffers,
    own_parameters,
    set_tensor_hooks,
    set_version,
    tensor_hooks,
    versions_of,
)
from modeldiagrams.tracer.walk import find_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torch import nn

__all__ = ["Keeper"]

_Copy: TypeAlias = "tuple[Tensor, Tensor | None]"
"""Another tensor on the same memory, for one that is given other memory, and one with the same content."""

_MAX_MEAN = 2**12
"""Elements of a tensor that is neither parameter nor buffer and is copied at once."""
_MAX_SMALL = 2**14
"""Elements of a buffer that is copied together with others."""
_DTYPES = frozenset({torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool})
_REQUIRES_GRAD = operator.attrgetter("requires_grad")


@dataclass(slots=True)
class _Small:
    """Buffers of one shape and dtype: to copy and compare them at once takes a fraction of the time."""

    tensors: list[Tensor]
    same: list[Tensor]
    pointers: list[int]
    copies: Tensor

    def is_as_before(self) -> bool:
        if self.pointers != list(map(Tensor.data_ptr, self.tensors)):
            return False
        now = _quietly(torch.stack, self.tensors)
        return now is not None and torch.equal(now, self.copies)


class Keeper:
    """Remembers tensors of a model and its inputs and puts back what a forward does to them.

    Buffers are copied at once: some functions write them silently (batch norm). Parameters and inputs, which are big,
    are copied when something is about to write to them.
    """

    def __init__(self, modules: Sequence[nn.Module], inputs: Any, constants: Sequence[Tensor] = ()) -> None:
        """Remember.

        Args:
            modules: The model's.
            inputs: Its arguments.
            constants: Tensors that it holds in other ways.
        """
        parameters = [parameter for module in modules for parameter in own_parameters(module).values()]
        buffers = {id(buffer): buffer for module in modules for buffer in own_buffers(module).values()}
        given = [tensor for _, tensor in find_tensors(inputs, into_objects=True)]
        found = (*parameters, *buffers.values(), *given, *constants)
        self._tensors = list({id(tensor): tensor for tensor in found}.values())
        self._grads = _grads(self._tensors)
        self._filled = [grad for grad in self._grads if grad is not None]
        """Gradients that are there already."""
        self._tensors += self._filled
        self._grads += [None] * len(self._filled)
        self._kinds = list(map(type, self._tensors))
        self._versions = versions_of(self._tensors)
        self._requires_grad = list(map(_REQUIRES_GRAD, self._tensors))
        self._hooks = list(map(tensor_hooks, self._tensors))
        self._hooks_in = [(hooks, hooks.copy()) for hooks in self._hooks if hooks is not None]
        self._copies: dict[int, _Copy] = {}
        self._by_memory: dict[int, list[Tensor]] = {}
        """By what tells one tensor's memory from another's; one without memory of its own stands for itself."""
        known = {*buffers, *map(id, given)}
        means = [constant for constant in constants if id(constant) not in known and _may_be_mean(constant)]
        self._small = self._copy_small([*buffers.values(), *means])

    def before_write(self, tensor: Tensor) -> None:
        """Something is about to write to this tensor, perhaps a view of a parameter."""
        if not self._by_memory:
            for kept, key in zip(self._tensors, memory_keys(self._tensors), strict=True):
                self._by_memory.setdefault(key or id(kept), []).append(kept)
        for kept in self._by_memory.get(memory_key(tensor) or id(tensor), ()):
            if id(kept) not in self._copies:
                with no_dispatch_modes():
                    self._copy(kept)

    def before_backward(self) -> None:
        """A backward pass adds to the gradients that are there."""
        for grad in self._filled:
            self.before_write(grad)

    @property
    def has_grads(self) -> bool:
        """Whether there are gradients already."""
        return bool(self._filled)

    def restore(self) -> None:
        """Put everything back."""
        with torch.no_grad():
            for tensor, kind in zip(self._tensors, self._kinds, strict=True):
                if type(tensor) is not kind:  # a lazy parameter was given its shape
                    tensor.data = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
                    tensor.__class__ = kind
            for tensor in self._tensors:
                if id(tensor) in self._copies:
                    _restore_content(tensor, *self._copies[id(tensor)])
            for small in self._small:
                if not small.is_as_before():
                    for tensor, same, copy in zip(small.tensors, small.same, small.copies, strict=True):
                        _restore_content(tensor, same, copy)
            self._restore_state()

    def _copy_small(self, buffers: Iterable[Tensor]) -> list[_Small]:
        """Copy all buffers, and tell those that were copied together."""
        groups: dict[Any, list[Tensor]] = {}
        for buffer in buffers:
            if _is_small(buffer):
                groups.setdefault((buffer.shape, buffer.dtype), []).append(buffer)
            else:
                self._copy(buffer)
        return [
            _Small(group, [*map(Tensor.detach, group)], [*map(Tensor.data_ptr, group)], torch.stack(group).detach())
            for group in groups.values()
        ]

    def _copy(self, tensor: Tensor) -> None:
        same = _quietly(Tensor.detach, tensor)
        if same is not None:
            self._copies[id(tensor)] = (same, None if tensor.is_meta else _quietly(Tensor.clone, same))

    def _restore_state(self) -> None:
        """Everything but the content: once that is put back, since to write is to change it."""
        tensors = self._tensors
        for tensor, version, version_before in zip(tensors, versions_of(tensors), self._versions, strict=True):
            if version != version_before and version_before is not None:
                set_version(tensor, version_before)
        for tensor, hooks_before in zip(tensors, self._hooks, strict=True):
            if tensor_hooks(tensor) is not hooks_before:
                set_tensor_hooks(tensor, hooks_before)
        for hooks, content in self._hooks_in:
            put_contents(hooks, content)
        for tensor, required_grad in zip(tensors, self._requires_grad, strict=True):
            if tensor.requires_grad != required_grad and tensor.is_leaf:
                tensor.requires_grad_(required_grad)
        for tensor, grad, grad_before in zip(tensors, _grads(tensors), self._grads, strict=True):
            if grad is not grad_before and tensor.is_leaf:
                tensor.grad = grad_before


def _may_be_mean(tensor: Tensor) -> bool:
    """Whether a tensor is as small as statistics are, which batch norm writes silently."""
    return not isinstance(tensor, UninitializedTensor) and tensor.numel() <= _MAX_MEAN


def _is_small(buffer: Tensor) -> bool:
    return (
        type(buffer) is Tensor
        and buffer.is_cpu
        and buffer.layout is torch.strided
        and buffer.dtype in _DTYPES
        and buffer.numel() <= _MAX_SMALL
        and not buffer.is_inference()
    )


def _grads(tensors: Sequence[Tensor]) -> list[Tensor | None]:
    return [tensor.grad if tensor.is_leaf else None for tensor in tensors]


def _restore_content(tensor: Tensor, same: Tensor, copy: Tensor | None) -> None:
    if not _looks_into(tensor, same):
        tensor.data = same
    if copy is not None and not _quietly(torch.equal, tensor, copy):
        tensor.copy_(copy)


def _looks_into(tensor: Tensor, other: Tensor) -> bool:
    """Whether both show the same elements of the same memory."""
    if memory_key(tensor) is None:
        return tensor.shape == other.shape
    return (
        memory_key(tensor) == memory_key(other)
        and tensor.dtype == other.dtype
        and tensor.shape == other.shape
        and tensor.stride() == other.stride()
        and tensor.storage_offset() == other.storage_offset()
    )


def _quietly(run: Callable[..., Any], *args: Any) -> Any:
    """What comes out, or None: lazy tensors have no content yet, and not every kind of tensor can do everything."""
    try:
        return run(*args)
    except (RuntimeError, ValueError, NotImplementedError):
        return None
