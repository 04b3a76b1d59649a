"""The inputs of a model at other sizes."""

from __future__ import annotations

import copy
import math
import re
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

from modeldiagrams.resolve.dimensions.followed_sizes import name_leaves
from modeldiagrams.resolve.dimensions.usual_dims import get_last_word
from modeldiagrams.resolve.values.input_entries import find_instances
from modeldiagrams.resolve.values.input_values import call_for_inputs
from modeldiagrams.tracer.fake.known_values import SMALL
from modeldiagrams.tracer.recording.module_calls import argument_names, find_tensor_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from modeldiagrams.resolve.dimensions.naming import InputNames

__all__ = ["InputMover"]

_LENGTHS = re.compile(r"(.*_)?(lengths?|lens?|cu_seqlens.*|offsets?)")
_INDICES = re.compile(r"(.*_)?(index|indices|idx|edges|positions?|pos|faces)(_.*)?|.*_(i|j)")
_POSITIONS = re.compile(r"(.*_)?pos(ition)?s?(_ids?)?")


class InputMover:
    """Makes the same inputs at other sizes: more of a dimension repeats it, less leaves out its end.

    So values stay in range. Lengths and indices are scaled with the size that they are about. Nothing of the original
    inputs is changed.
    """

    def __init__(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        names: InputNames,
        inputs_from: str | None,
        function: Callable[..., Any],
    ) -> None:
        """Keep the inputs.

        Args:
            args: Positional arguments.
            kwargs: The others.
            names: Of their sizes.
            inputs_from: Path of the function that made them, if the author named one.
            function: The model, or what is called in its place.
        """
        self._args, self._kwargs, self.names, self._inputs_from = args, kwargs, names, inputs_from
        self._argument_names = argument_names(function)
        self._tensors = self._find(args, kwargs)
        self.without_large = False
        """Whether large inputs of floating point numbers are on the meta device: enough for a pass without values."""

    def _find(self, args: Any, kwargs: Any) -> dict[str, Tensor]:
        return dict(find_tensor_arguments(self._argument_names, args, kwargs, into_objects=True))

    def explain_fixed(self) -> dict[str, str]:
        """Name of a size that can't move → why: a tensor that has it is sparse, for example."""
        try:
            _copy(self._args, self._kwargs, {id(tensor): tensor for tensor in self._tensors.values()})
        except Exception as error:  # noqa: BLE001  (whatever an object among the inputs raises)
            return dict.fromkeys(self.names.sizes, f"the inputs can't be copied: {error}")
        found: dict[str, str] = {}
        for name, dims in self.names.dims.items():
            problem = _find_problem(self._tensors[name])
            for size in dims if problem else ():
                found.setdefault(str(size), f"{name} {problem}")
        return {name: why for name, why in found.items() if name in self.names.sizes}

    def move(self, sizes: Mapping[str, int]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The inputs at other sizes.

        Args:
            sizes: Name of a size → number; those that are left out stay.

        Raises:
            TargetError: if the author's function raises at these sizes.
        """
        args, kwargs, tensors = self._args, self._kwargs, self._tensors
        own = {parameter: sizes[name] for parameter, name in self.names.parameters.items() if name in sizes}
        if own and self._inputs_from:
            args, kwargs = call_for_inputs(self._inputs_from, own)
            tensors = self._find(args, kwargs)
        copies: dict[int, Any] = {}
        for name, tensor in tensors.items():
            like = self._tensors.get(name, tensor)
            copies.setdefault(id(tensor), self._move_tensor(name, tensor.to(like.device), sizes))
        if self.names.arguments:
            leaves, containers = name_leaves(self._argument_names[0], args, kwargs)
            named = [(self.names.arguments.get(path, ""), leaf) for path, leaf in leaves]
            args, kwargs = pytree.tree_unflatten([sizes.get(name, leaf) for name, leaf in named], containers)
        return _copy(args, kwargs, copies)

    def _move_tensor(self, name: str, tensor: Tensor, sizes: Mapping[str, int]) -> Tensor:
        dims = self.names.dims.get(name, ())
        target = [sizes.get(str(dim), size) for dim, size in zip(dims, tensor.shape, strict=False)]
        has_floats = self.without_large and tensor.is_floating_point() and tensor.device.type == "cpu"
        on_meta = has_floats and math.prod(target) > SMALL
        moved = _resize(tensor, target, on_meta=on_meta) if dims and target != [*tensor.shape] else tensor
        has_values = type(tensor) in (Tensor, nn.Parameter) and not tensor.is_meta and tensor.numel()
        if has_values and not (tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool):
            return self._renew_values(name, tensor, moved, sizes)
        return moved

    def _renew_values(self, name: str, tensor: Tensor, moved: Tensor, sizes: Mapping[str, int]) -> Tensor:
        """Scale whole numbers that are about a size, and continue sequences of positions."""
        word, base = get_last_word(name), self.names.sizes
        own = {*self.names.dims.get(name, ()), *self.names.parameters.values()}
        if _POSITIONS.fullmatch(word) and tensor.ndim and (tensor.diff() == 1).all():
            return moved[..., :1] + torch.arange(moved.shape[-1], dtype=tensor.dtype, device=tensor.device)
        is_index = _INDICES.fullmatch(word) is not None
        if is_index or _LENGTHS.fullmatch(word):
            least = int(tensor.max()) + is_index
            # they are about the smallest size of another dimension that they fit into
            fitting = {size: number for size, number in base.items() if size not in own and number >= least}
            about = min(fitting, key=lambda size: fitting[size], default="")
            old, after = base.get(about, 0), sizes.get(about, base.get(about, 0))
            if after != old and (least == old or least > after):
                moved = moved * (after - is_index) // max(old - is_index, 1)
                moved = moved.clamp(min=1) if "len" in word and "cu" not in word and int(tensor.min()) else moved
        for is_falling in (False, True) if moved.ndim == 1 and moved.shape != tensor.shape else ():
            if tensor.equal(tensor.sort(descending=is_falling).values):
                moved = moved.sort(descending=is_falling).values
        return moved


def _copy(args: Any, kwargs: Any, copies: dict[int, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with copies of their tensors by id in all containers and objects; modules stay the same."""
    modules = {id(module): module for module in find_instances((args, kwargs), nn.Module)}
    return copy.deepcopy((args, kwargs), {**modules, **copies})


def _find_problem(tensor: Tensor) -> str:
    """Why a tensor can't have other sizes; empty if it can."""
    if tensor.is_nested or tensor.layout is not torch.strided:
        return "is a nested tensor" if tensor.is_nested else f"is sparse ({tensor.layout})"
    if tensor.is_quantized:
        return "is quantised"
    if type(tensor) not in (Tensor, nn.Parameter) and not isinstance(tensor, FakeTensor):
        return f"is a {type(tensor).__name__}"
    return "overlaps itself in memory" if _lay_out(tensor, tensor.shape) is None else ""


def _lay_out(tensor: Tensor, sizes: Sequence[int]) -> list[int] | None:
    """Strides at other sizes: items of a dimension leave out as much in memory as before; None if they overlap."""
    strides, end, end_before = [0] * tensor.ndim, 1, 1
    for dim in sorted(range(tensor.ndim), key=lambda dim: (tensor.stride(dim), -dim)):
        size, stride = tensor.shape[dim], tensor.stride(dim)
        is_free = size <= 1 or not stride  # one item, or expanded, leaves out nothing
        strides[dim] = end if is_free else end + stride - end_before
        if not is_free and stride < end_before:
            return None
        end_before = end_before if is_free else stride * size
        end = strides[dim] * sizes[dim] if sizes[dim] > 1 else end
    return strides


def _resize(tensor: Tensor, sizes: list[int], *, on_meta: bool = False) -> Tensor:
    """A tensor of other sizes with the same layout; its last item along a dimension stays the last one.

    Some models look for the end token. Without values, it is on the meta device.
    """
    core = tensor.detach().to("meta") if on_meta else tensor.detach()
    for dim, size in enumerate(sizes):
        before = core.shape[dim]
        if not size or (before > 1 and not tensor.stride(dim)):  # expanded
            core = core.narrow(dim, 0, min(size, 1))
        elif before != size:
            more = torch.cat([core] * math.ceil(size / before), dim).narrow(dim, 0, size - 1)
            core = torch.cat([more, core.narrow(dim, before - 1, 1)], dim)
    strides = _lay_out(tensor, core.shape) or core.stride()
    core = core.new_empty_strided(core.shape, strides).copy_(core).expand(sizes)
    if type(tensor) is nn.Parameter:
        return nn.Parameter(core, requires_grad=tensor.requires_grad)
    return core.requires_grad_(tensor.requires_grad)
