"""Moves a model and its inputs to a device."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree

from modeldiagrams.resolve.code.user_code import user_code

__all__ = ["move_to_device"]


def move_to_device(device: str, model: torch.nn.Module, inputs: Any, name: str) -> Any:
    """Move a model and its inputs.

    Args:
        device: The destination.
        model: Is changed in place.
        inputs: Any nesting of tensors and other values.
        name: The author's name for the model, for messages.

    Returns:
        The inputs on the device.

    Raises:
        TargetError: if there is no such device.
    """
    with user_code(f"moving {name} to the device {device}"):
        model.to(device)
        return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.to(device), inputs)
