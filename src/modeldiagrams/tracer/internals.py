"""What the tracer needs of torch's private parts, all in one place: the first file to look at with a new torch."""

# ruff: noqa: SLF001
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "FunctionBase",
    "Memory",
    "Operator",
    "OperatorPacket",
    "ScriptFunction",
    "SingleLevelFunction",
    "UninitializedTensor",
    "alias_of",
    "memory_key",
    "own_buffers",
    "own_parameters",
    "schema_of",
    "schemas_named",
    "set_version",
    "unseen_by_modes",
    "version_of",
    "without_wrappers",
]

Operator: Any = torch._ops.OpOverload
"""One operator: ``torch.ops.aten.add.Tensor``."""
OperatorPacket: Any = torch._ops.OpOverloadPacket
"""Operators of one name: ``torch.ops.aten.add``."""
ScriptFunction: Any = torch._C.ScriptFunction
FunctionBase: Any = torch._C._FunctionBase
SingleLevelFunction: Any = torch.autograd.function._SingleLevelFunction
UninitializedTensor: Any = nn.parameter.UninitializedTensorMixin  # type: ignore[attr-defined]
unseen_by_modes: Any = torch._C.DisableTorchFunction
"""Context: torch functions called inside are not handed to any function mode."""

_NO_MEMORY = (RuntimeError, ValueError, NotImplementedError)  # sparse, lazy, functorch's wrappers, other subclasses


class Memory:
    """A weak hold on a tensor's memory: while it is held, the memory's key is not given to other memory."""

    def __init__(self, tensor: Tensor) -> None:
        self._reference: Any = StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]

    @property
    def is_gone(self) -> bool:
        """Whether no tensor uses the memory any more."""
        return bool(self._reference.expired())


def memory_key(tensor: Tensor) -> int | None:
    """What tells one tensor's memory from another's; None for tensors without memory of their own."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except _NO_MEMORY:
        return None


def version_of(tensor: Tensor) -> int | None:
    """How often a tensor's memory was written; None where torch does not count (inference mode)."""
    try:
        return tensor._version
    except RuntimeError:
        return None


def set_version(tensor: Tensor, version: int) -> None:
    """Set the write counter back, so that a backward pass that was under way still runs."""
    set_counter: Any = torch._C._autograd._unsafe_set_version_counter
    try:
        set_counter((tensor,), (version,))
    except TypeError:  # before torch 2.7
        set_counter(tensor, version)


def without_wrappers(tensor: Tensor) -> Tensor:
    """The plain tensor inside vmap's, grad's and jvp's wrappers."""
    functorch: Any = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor


def alias_of(tensor: Tensor) -> Tensor:
    """Another tensor object with the same content."""
    try:
        with torch._C.DisableTorchFunction():
            alias: Tensor = torch.ops.aten.alias.default(tensor)
    except _NO_MEMORY:
        return tensor
    return alias


def own_parameters(module: nn.Module) -> dict[str, Tensor]:
    """The parameters a module holds itself."""
    return {name: parameter for name, parameter in module._parameters.items() if parameter is not None}


def own_buffers(module: nn.Module) -> dict[str, Tensor]:
    """The buffers a module holds itself."""
    return {name: buffer for name, buffer in module._buffers.items() if buffer is not None}


def schema_of(operator: Any) -> Any:
    """An operator's schema: ``name`` (``aten::add``), ``arguments``, ``is_mutable``."""
    return operator._schema


def schemas_named(name: str) -> Sequence[Any]:
    """The schemas of all operators of a name such as ``aten::add``."""
    return torch._C._jit_get_schemas_for_operator(name)
