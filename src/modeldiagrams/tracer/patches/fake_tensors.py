"""Replacements for methods of fake tensors and for functions that handle them; `patch_table` gives the reasons."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import handle_torch_function, has_torch_function

from modeldiagrams.tracer.patches.replace import replace
from modeldiagrams.tracer.torch_facts.private_api import unseen_by_modes

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable

    from torch import Tensor


def assign_data(tensor: Tensor, other: Tensor) -> None:
    """Replace `torch.utils.swap_tensors` by an assignment of the content."""
    tensor.data = other


def format_as_number(tensor: Tensor, spec: str) -> str:
    """Replace `Tensor.__format__`."""
    with unseen_by_modes():
        return format(tensor.item() if tensor.dim() == 0 else object.__repr__(tensor), spec)


def refuse_dlpack(_tensor: Tensor, *_: Any, **__: Any) -> Any:
    """Replace `Tensor.__dlpack__`."""
    raise RuntimeError("a tensor without values has no memory that another library could use")


def wrap_tolist(original: Callable[..., Any]) -> Callable[..., Any]:
    """Make a `Tensor.tolist` that function modes see."""

    def tolist(*args: Any) -> Any:
        return original(*args)

    tolist.__module__ = "torch.Tensor"  # gives its public name

    def shown_tolist(self: Tensor) -> Any:
        return handle_torch_function(tolist, (self,), self) if has_torch_function((self,)) else original(self)

    return shown_tolist


class _Stack(threading.local):
    """A list with separate content on each thread."""

    def __init__(self) -> None:
        self._items: list[Any] = []
        self.append, self.pop = self._items.append, self._items.pop

    def __len__(self) -> int:
        return len(self._items)

    def __deepcopy__(self, _memo: Any) -> _Stack:
        return _Stack()  # a copied fake tensor copies its mode


class _Flag:
    """A boolean attribute with a separate value on each thread. The thread that makes it keeps the earlier value."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread = threading.get_ident()

    def _key(self) -> str:
        thread = threading.get_ident()
        return self._name if thread == self._thread else f"{self._name} on thread {thread}"

    def __get__(self, owner: Any, kind: type) -> bool:
        return bool(vars(owner).get(self._key()))

    def __set__(self, owner: Any, value: Any) -> None:
        vars(owner)[self._key()] = value


def new_fake_mode() -> Any:
    """Make a `FakeTensorMode` that several threads can enter."""
    mode: Any = FakeTensorMode(allow_non_fake_inputs=True)
    mode.enter_stack = _Stack()
    return mode


def share_fake_modes(undo: contextlib.ExitStack) -> None:
    """Let several threads run operators in a fake mode at the same time; only passes with threads need it."""
    name = "in_kernel_invocation"
    if not isinstance(vars(FakeTensorMode).get(name), _Flag):
        replace(undo, FakeTensorMode, name, _Flag(name))
