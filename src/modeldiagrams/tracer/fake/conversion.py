"""Converts weights and inputs to tensors without memory: fake tensors, or tensors on the meta device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_map_only

from modeldiagrams.common.class_facts import name_of
from modeldiagrams.tracer.torch_facts.private_api import UninitializedTensor

if TYPE_CHECKING:
    from torch._subclasses.fake_tensor import FakeTensorMode

    from modeldiagrams.tracer.fake.concrete_values import ConcreteValues


class NoFakeError(TypeError):
    """PyTorch can't imitate a tensor without values."""

    def __init__(self, kind: str, error: Exception) -> None:
        super().__init__(f"PyTorch can't run without the values of a {kind} ({error}); use the mode real")


def put_fake_weights(model: Any, fake_mode: FakeTensorMode, values: ConcreteValues) -> None:
    """Replace every tensor in the model's modules by a fake one; `restore` puts the real ones back."""
    for module in list(model.modules()) if isinstance(model, nn.Module) else []:
        if isinstance(module, torch.jit.ScriptModule):  # runs in C++ on its own tensors
            continue
        attributes = vars(module)
        for name, held in list(attributes.items()):
            if name in ("_parameters", "_buffers"):
                held.update({key: as_fake(tensor, fake_mode, values) for key, tensor in held.items()})
            elif not isinstance(held, nn.Module):
                attributes[name] = as_fake(held, fake_mode, values)


def as_meta(value: Any, values: ConcreteValues) -> Any:
    """Convert the tensors in a nested value to the meta device; `values` remembers the content of small ones."""

    def move(tensor: Tensor) -> Tensor:
        moved = tensor.to("meta")
        values.known.remember_given(moved, tensor)
        return moved

    return tree_map_only(Tensor, move, value)


def as_fake(value: Any, fake_mode: FakeTensorMode, values: ConcreteValues | None) -> Any:
    """Convert the tensors in a nested value to fakes; `values`, if given, remembers the content of small ones."""

    def fake(tensor: Tensor) -> Tensor:
        if isinstance(tensor, FakeTensor):
            return tensor
        if isinstance(tensor, UninitializedTensor):  # can't be faked, and the real one must stay uninitialised
            lazy: Tensor = type(tensor)(requires_grad=tensor.requires_grad, device=tensor.device, dtype=tensor.dtype)
            return lazy
        try:
            made = fake_mode.from_tensor(tensor)
        except Exception as error:
            kind = "nested tensor" if tensor.is_nested else name_of(type(tensor))
            raise NoFakeError(kind, error) from error
        if tensor.is_meta:  # pretend it has memory: code that reads values checks for the meta device
            made.fake_device = torch.device("cpu")
        if values is not None and not tensor.requires_grad:
            values.known.remember_given(made, tensor)
        return made

    if isinstance(value, Tensor):
        return fake(value)
    if type(value) in (list, tuple, dict) and _has_tensors(value):
        return tree_map_only(Tensor, fake, value)
    return value


def _has_tensors(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value
    return any(isinstance(item, Tensor) or (type(item) in (list, tuple, dict) and _has_tensors(item)) for item in items)
