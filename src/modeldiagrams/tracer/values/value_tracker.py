"""Which recorded value a tensor holds right now.

A lookup tries the tensor object itself, the tensor inside a functorch wrapper, the memory (storage) it views, and
memory shared with numpy. Every memory lists its writes, so a write through a view reaches all later readers of
overlapping tensors. A lookup takes constant time unless the memory was written through other tensors.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import ref

import msgspec
from torch._subclasses.fake_tensor import FakeTensor

from modeldiagrams.tracer.torch_facts.functions import size_name
from modeldiagrams.tracer.torch_facts.private_api import (
    NO_MEMORY,
    PLAIN_TENSORS,
    is_wrapped,
    no_dispatch_modes,
    parts_of,
    sizes_as_numbers,
    storage_of,
    unseen_by_modes,
    without_wrappers,
    wraps_now,
)
from modeldiagrams.tracer.values.memory_regions import geometry_of, region_of
from modeldiagrams.tracer.values.pass_records import Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch
    from torch import Tensor

    from modeldiagrams.tracer.values.memory_regions import Geometry
    from modeldiagrams.tracer.values.pass_records import Op, OpInput, Slots, Value

_MAX_VIEWS = 64
"""Views remembered for each memory; when there are more, the older half is dropped."""

_View: TypeAlias = "tuple[Value, Geometry | None]"
"""A value, and which part of the memory it occupies."""


class _Memory(msgspec.Struct, eq=False, gc=False):
    """Views of one storage and writes to it."""

    alive: ref[Any] | None
    views: list[_View] = []
    writes: list[_View] = []


_NOWHERE = _Memory(None)
"""The memory of tensors that have none of their own."""
_Assignment: TypeAlias = "tuple[ref[Tensor], tuple[Value], _Memory, int]"
"""A tensor object, the value last assigned to it, its memory, and how many writes that memory had then.

A tuple, because every tensor that an op returns has one.
"""


class ValueTracker:
    """Maps tensors to values."""

    def __init__(self) -> None:
        self._tensors: dict[int, _Assignment] = {}
        self._memories: dict[int, _Memory] = {}
        self._exported: dict[int, tuple[_Memory, Op]] = {}

    def values(self, tensor: Tensor) -> Sequence[Value]:
        """The values that a tensor holds now: several if its parts were written separately, none if unknown."""
        known = self._tensors.get(id(tensor))
        if known is not None:
            reference, values, memory, n_seen = known
            if reference() is tensor:
                if len(memory.writes) == n_seen:
                    return values
                with unseen_by_modes():
                    return _with_writes(tensor, values[0], memory.writes[n_seen:])
        with unseen_by_modes():
            # a tensor of a wrapper class, such as a nested one, holds the values of the tensors inside
            inside = (value for part in _tensors_inside(tensor) for value in self.values(part))
            return self._by_memory(tensor) or list(dict.fromkeys(inside))

    def inputs_of(self, tensors: Sequence[Tensor], slots: Slots, unknown: Callable[[Tensor], Value]) -> list[OpInput]:
        """The inputs of an op with these tensors in these slots; `unknown` makes a value for a tensor without one."""
        found = []
        known_by_id = self._tensors
        for tensor, (argument, flow) in zip(tensors, slots):  # noqa: B905 (`strict` takes as long as the rest)
            if flow is None:
                continue
            known = known_by_id.get(id(tensor))
            if known is not None and known[0]() is tensor and len(known[2].writes) == known[3]:  # as `values`
                values: Sequence[Value] = known[1]
            else:
                values = self.values(tensor) or (unknown(tensor),)
            for value in values:
                found.append((argument, value, "inferred" if value.inferred else flow))  # noqa: PERF401 - nearly always one
        return found

    def assign(self, tensor: Tensor, value: Value, *, written: bool = False, part: Spec | None = None) -> bool:
        """Assign a value to a tensor; return whether no other tensor is known to use its memory.

        A tensor `written` in place changes all tensors that view the same memory. `part` is the shape of a tensor that
        is only a part of the value.
        """
        try:  # `_memory` without a call
            storage = tensor.untyped_storage()
        except NO_MEMORY:
            is_new_memory = True
            self._tensors[id(tensor)] = ref(tensor), (value,), _NOWHERE, 0
        else:
            key, view = id(storage), (value, geometry_of(tensor, part or value.spec))
            memory = self._memories.get(key)
            if memory is None or memory.alive() is not storage:  # type: ignore[misc]  # these have memory
                is_new_memory = True
                memory = self._memories[key] = _Memory(ref(storage), [view])
            else:
                is_new_memory = not memory.views
                memory.views.append(view)
                if len(memory.views) > _MAX_VIEWS:
                    del memory.views[: _MAX_VIEWS // 2]
            if written:
                memory.writes.append(view)
            self._tensors[id(tensor)] = ref(tensor), (value,), memory, len(memory.writes)
        if part is None and (type(tensor) not in PLAIN_TENSORS or wraps_now() is not None):
            for inner in _tensors_inside(tensor):
                self.assign(inner, value, written=written, part=spec_of(inner))
        return is_new_memory

    def keep_visible(self, view: Tensor, inputs: list[OpInput]) -> list[OpInput]:
        """Keep the inputs whose values a view can show, in the order of writes: not writes to other parts of memory."""
        memory = self._memory(view)
        shown = region_of(geometry_of(view, spec_of(view))) if memory is not None and memory.writes else None
        if memory is None or shown is None or shown.is_empty:
            return inputs
        regions = {value: region_of(geometry) for value, geometry in memory.writes}
        found: list[OpInput] = []
        for feed in inputs:
            other = regions.get(feed[1])
            if other is not None and other.covers(shown):
                found = [earlier for earlier in found if earlier[0] != feed[0]]
            if other is None or other.overlaps(shown):
                found.append(feed)
        return found

    def forget(self, tensor: Tensor) -> None:
        """Forget the value of a tensor that was given other memory."""
        self._tensors.pop(id(tensor), None)

    def mark_exported(self, tensor: Tensor, op: Op) -> None:
        """Remember that this op shares the tensor's memory with numpy or another library."""
        memory = self._memory(tensor)
        address = _address(tensor)
        if memory is not None and address:
            self._exported[address] = (memory, op)

    def find_exporter(self, tensor: Tensor) -> Op | None:
        """Find the op that shared this tensor's memory with another library, and connect the memory of both."""
        memory, op = self._exported.get(_address(tensor), (None, None))
        shared = None if memory is None or memory.alive is None else memory.alive()
        if memory is None or shared is None:
            return None
        storage = storage_of(tensor)
        if storage.data_ptr() == shared.data_ptr():
            # both use these lists from now on
            self._memories[id(storage)] = _Memory(ref(storage), memory.views, memory.writes)
        return op

    def _memory(self, tensor: Tensor) -> _Memory | None:
        storage = storage_of(tensor)
        if storage is None:
            return None
        memory = self._memories.get(id(storage))
        if memory is None or memory.alive() is not storage:  # type: ignore[misc]  # these have memory
            memory = self._memories[id(storage)] = _Memory(ref(storage))
        return memory

    def _by_memory(self, tensor: Tensor) -> Sequence[Value]:
        memory = self._memory(tensor)
        if memory is None or not memory.views:
            return ()
        geometry = geometry_of(tensor, spec_of(tensor))
        for value, other in reversed(memory.views):
            if geometry is not None and other == geometry:
                return (value,)
        return (memory.views[-1][0],)


def _with_writes(tensor: Tensor, value: Value, writes: Sequence[_View]) -> list[Value]:
    """The values of a tensor after writes through other tensors that view the same memory."""
    values = [value]
    shown = region_of(geometry_of(tensor, spec_of(tensor)))
    for written, geometry in writes:
        other = region_of(geometry)
        if shown is None or other is None:
            values.append(written)
        elif other.covers(shown):
            values = [written]
        elif other.overlaps(shown):
            values.append(written)
    return values


def _tensors_inside(tensor: Tensor) -> list[Tensor]:
    """The parts of a tensor of a wrapper class, and the plain tensor inside functorch's wrappers."""
    with unseen_by_modes():
        parts = [] if type(tensor) in PLAIN_TENSORS else parts_of(tensor)
        return [*parts, without_wrappers(tensor)] if is_wrapped(tensor) else parts


def spec_of(tensor: Tensor) -> Spec:
    """Shape and type of a tensor."""
    try:
        shape = tensor.shape
    except RuntimeError:  # uninitialised parameters and strided nested tensors have no shape
        return _spec_of_nested(tensor) if tensor.is_nested else Spec(None, dtype_name(tensor.dtype), 0)
    try:
        return usual_spec(shape, tensor.dtype)
    except TypeError:  # symbolic sizes, or tensors in the place of numbers
        with sizes_as_numbers():
            sizes = tuple(size if type(size) is int else size_name(size) for size in tensor.shape)
            return Spec(sizes, dtype_name(tensor.dtype), tensor.numel() * tensor.element_size())


@functools.lru_cache(maxsize=4096)
def usual_spec(shape: torch.Size, dtype: torch.dtype) -> Spec:
    """Make the spec of a shape and type; raise `TypeError` if a size is not a number."""
    if any(type(size) is not int for size in shape):
        raise TypeError
    return Spec(tuple(shape), dtype_name(dtype), math.prod(shape) * dtype.itemsize)


def _spec_of_nested(tensor: Tensor) -> Spec:
    """Shape and type of a nested tensor of the layout `torch.strided`; a size that its parts don't share is ``j``."""
    with unseen_by_modes(), no_dispatch_modes():
        shapes = tensor._nested_tensor_size().tolist()  # noqa: SLF001 - it has no public name
        nbytes = tensor.numel() * tensor.element_size()
    sizes = [sizes[0] if len(set(sizes)) == 1 else "j" for sizes in zip(*shapes, strict=True)]
    return Spec((len(shapes), *sizes), dtype_name(tensor.dtype), nbytes)


@functools.cache
def dtype_name(dtype: torch.dtype) -> str:
    """``float32`` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def _address(tensor: Tensor) -> int:
    """Address in main memory, or 0."""
    if tensor.device.type != "cpu" or isinstance(tensor, FakeTensor):
        return 0
    try:
        return tensor.data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0
