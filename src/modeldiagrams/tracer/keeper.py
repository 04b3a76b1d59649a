"""The tensors of a model are afterwards what they were before: content, memory, gradients, hooks, write counters."""

from __future__ import annotations

import contextlib
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor

from modeldiagrams.tracer.belongings import put_back, put_contents
from modeldiagrams.tracer.internals import (
    UninitializedTensor,
    buffers_of,
    memory_key,
    memory_keys,
    no_dispatch_modes,
    parameters_of,
    set_tensor_hooks,
    set_version,
    tensor_hooks,
    unseen_by_modes,
    versions_of,
)
from modeldiagrams.tracer.walk import find_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from torch import nn

__all__ = ["Keeper"]

_Copy: TypeAlias = "tuple[Tensor, Tensor | None]"
"""Another tensor on the same memory, for one that is given other memory, and one with the same content."""

_MAX_SMALL = 2**13
"""Elements of a tensor that is copied at once: more than statistics have, which batch norm writes silently."""
_REQUIRES_GRAD = operator.attrgetter("requires_grad")


@dataclass(slots=True)
class _Small:
    """Buffers of one shape and dtype: to copy and compare them at once takes a fraction of the time."""

    tensors: list[Tensor]
    same: list[Tensor]
    pointers: list[int]
    copies: Tensor

    @classmethod
    def of(cls, group: list[Tensor]) -> _Small:
        if group[0].is_meta:
            raise NotImplementedError  # no content
        pointers, same = list(map(Tensor.data_ptr, group)), list(map(Tensor.detach, group))
        return cls(group, same, pointers, torch.stack(group).detach())

    def is_as_before(self) -> bool:
        if self.pointers != list(map(Tensor.data_ptr, self.tensors)):
            return False
        return torch.equal(torch.stack(self.tensors), self.copies)


class Keeper:
    """Remembers tensors of a model and its inputs and puts back what a forward does to them.

    Small buffers are copied at once: some functions write them silently (batch norm). What may be big is copied when
    something is about to write to it.
    """

    def __init__(self, modules: Sequence[nn.Module], inputs: Any, constants: Sequence[Tensor] = ()) -> None:
        """Remember.

        Args:
            modules: The model's.
            inputs: Its arguments.
            constants: Tensors that it holds in other ways.
        """
        with _out_of_sight():
            self._remember(modules, inputs, constants)

    def _remember(self, modules: Sequence[nn.Module], inputs: Any, constants: Sequence[Tensor]) -> None:
        parameters = parameters_of(modules)
        buffers = {id(buffer): buffer for buffer in buffers_of(modules)}
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
        small = [constant for constant in constants if id(constant) not in known and _is_small(constant)]
        self._small = self._copy_small([*buffers.values(), *small])

    def before_write(self, tensor: Tensor) -> None:
        """Something is about to write to this tensor, perhaps a view of a parameter."""
        if not self._by_memory:
            for kept, key in zip(self._tensors, memory_keys(self._tensors), strict=True):
                self._by_memory.setdefault(key or id(kept), []).append(kept)
        for kept in self._by_memory.get(memory_key(tensor) or id(tensor), ()):
            if id(kept) not in self._copies:
                with _out_of_sight():
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
        with torch.no_grad(), _out_of_sight():
            for tensor, kind in zip(self._tensors, self._kinds, strict=True):
                if type(tensor) is not kind:  # a lazy parameter was given its shape
                    put_back(_restore_kind, tensor, kind)
            for tensor in self._tensors if self._copies else ():
                if id(tensor) in self._copies:
                    put_back(_restore_content, tensor, *self._copies[id(tensor)])
            for small in self._small:
                if not _quietly(small.is_as_before):
                    for tensor, same, copy in zip(small.tensors, small.same, small.copies, strict=True):
                        put_back(_restore_content, tensor, same, copy)
            self._restore_state()

    def _copy_small(self, buffers: Iterable[Tensor]) -> list[_Small]:
        """Copy all that are not big, and tell those that were copied together."""
        groups: dict[Any, list[Tensor]] = {}
        for buffer in buffers:
            if type(buffer) is Tensor:
                groups.setdefault((buffer.shape, buffer.dtype), []).append(buffer)
            elif _is_small(buffer):
                self._copy(buffer)
        copied = []
        for group in filter(lambda group: _is_small(group[0]), groups.values()):
            if (small := _quietly(_Small.of, group)) is not None:
                copied.append(small)
            else:  # of several devices, for one
                list(map(self._copy, group))
        return copied

    def _copy(self, tensor: Tensor) -> None:
        same = _quietly(Tensor.detach, tensor)
        if same is not None:
            self._copies[id(tensor)] = (same, None if tensor.is_meta else _quietly(Tensor.clone, same))

    def _restore_state(self) -> None:
        """Everything but the content: once that is put back, since to write is to change it."""
        tensors = self._tensors
        if (versions := versions_of(tensors)) != self._versions:  # big numbers are equal, but not the same object
            self._each_changed(versions, self._versions, set_version)
        self._each_changed(list(map(tensor_hooks, tensors)), self._hooks, set_tensor_hooks)
        for hooks, content in self._hooks_in:
            put_back(put_contents, hooks, content)
        self._each_changed(list(map(_REQUIRES_GRAD, tensors)), self._requires_grad, _set_requires_grad)
        self._each_changed(_grads(tensors), self._grads, _set_grad)

    def _each_changed(self, now: list[Any], before: list[Any], write: Callable[[Tensor, Any], Any]) -> None:
        if not all(map(operator.is_, now, before)):
            for tensor, value, value_before in zip(self._tensors, now, before, strict=True):
                if value is not value_before:
                    put_back(write, tensor, value_before)


@contextlib.contextmanager
def _out_of_sight() -> Iterator[None]:
    """What is done inside is no affair of tensors' own classes, nor of modes around the trace."""
    with unseen_by_modes(), no_dispatch_modes():
        yield


def _is_small(tensor: Tensor) -> bool:
    return not isinstance(tensor, UninitializedTensor) and tensor.numel() <= _MAX_SMALL


def _grads(tensors: Sequence[Tensor]) -> list[Tensor | None]:
    return [tensor.grad if tensor.is_leaf else None for tensor in tensors]


def _set_requires_grad(tensor: Tensor, before: bool) -> None:  # noqa: FBT001 - as it was read
    if tensor.is_leaf:
        tensor.requires_grad_(before)


def _set_grad(tensor: Tensor, before: Tensor | None) -> None:
    if tensor.is_leaf:
        tensor.grad = before


def _restore_kind(tensor: Tensor, kind: type) -> None:
    tensor.data = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    tensor.__class__ = kind


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
