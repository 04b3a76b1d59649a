"""Bounds what constructors allocate."""

from __future__ import annotations

import math
import re
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Allocations", "TooLargeError"]

_OUT_OF_MEMORY = re.compile("an(no|')t allocate memory|out of memory")


class TooLargeError(BaseException):
    """No handler of the user's for exceptions catches it."""


class Allocations(TorchFunctionMode):
    """Ends what runs inside once its tensors have more elements than can be afforded."""

    def __init__(self, most: float) -> None:
        super().__init__()
        self._most = self._left = most
        self._counted: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        """Memory by ``id``."""

    @property
    def used(self) -> float:
        """How many elements were made."""
        return self._most - self._left

    def __torch_function__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        try:
            result = func(*args, **(kwargs or {}))
        except RuntimeError as error:
            if _OUT_OF_MEMORY.search(str(error)) and math.isfinite(self._left):
                raise TooLargeError from error
            raise
        if isinstance(result, Tensor) and result.layout is torch.strided and not result.is_meta:
            self._count(result)
        return result

    def _count(self, tensor: Tensor) -> None:
        try:
            memory = tensor.untyped_storage()
        except (RuntimeError, NotImplementedError):  # nested, lazy
            return
        if id(memory) not in self._counted:
            self._counted[id(memory)] = memory
            self._left -= memory.nbytes() / tensor.element_size()
            if self._left < 0:
                raise TooLargeError
