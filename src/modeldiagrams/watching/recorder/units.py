"""Finds the dimension of an activation that holds its units, by the op that made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["find_unit_dimension"]

_SECOND = ("Convolution", "BatchNorm", "InstanceNorm", "GroupNorm")
_LAST = ("Addmm", "Mm", "Linear", "LayerNorm", "RmsNorm", "RMSNorm", "Embedding")
_KEEPS_PLACES = (
    "Relu", "Threshold", "Hardtanh", "Clamp", "Gelu", "Silu", "Elu", "Sigmoid", "Tanh", "Softplus", "Hardswish",
    "Hardsigmoid", "Mish", "Celu", "Selu", "Abs", "Pow", "Exp", "Add", "Sub", "Mul", "Div", "Dropout", "ToCopy",
    "Clone", "Pool", "Alias",
)  # fmt: skip
_FAR = 24
"""The maximum number of ops between an activation and the layer that made its units."""
_MODULES: dict[type[nn.Module], int] = {
    nn.Conv1d: 1, nn.Conv2d: 1, nn.Conv3d: 1, nn.BatchNorm1d: 1, nn.BatchNorm2d: 1, nn.BatchNorm3d: 1,
    nn.Linear: -1, nn.LayerNorm: -1, nn.Embedding: -1,
}  # fmt: skip


def find_unit_dimension(tensor: Tensor, module: nn.Module) -> int | None:
    """Return 1 after convolutions, -1 after linear layers; None if neither autograd nor the module's class tells."""
    node: Any = tensor.grad_fn
    for _ in range(_FAR):
        if node is None:
            break
        name = type(node).__name__
        if name.startswith(("View", "UnsafeView", "Reshape")):
            if not _keeps_last(node, tensor):
                return None
        elif any(word in name for word in _SECOND):
            return 1
        elif name.startswith(_LAST) or any(word in name for word in _LAST[3:]):
            return -1
        elif not any(word in name for word in _KEEPS_PLACES):
            return None
        node = next((parent for parent, _ in node.next_functions if parent is not None), None)
    return _MODULES.get(type(module))


def _keeps_last(node: Any, tensor: Tensor) -> bool:
    """Whether a reshape leaves the last dimension alone, as a linear layer's does."""
    before: Any = getattr(node, "_saved_self_sym_sizes", None)
    return before is not None and len(before) > 0 and int(before[-1]) == tensor.shape[-1]
