"""Finds a submodule, with the arguments that it gets in a pass of the whole model, and a method of a model."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.code.user_code import seeded, user_code
from modeldiagrams.tracer.fake.concrete_values import find_written

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor, nn

__all__ = ["Writes", "find_call", "find_method", "find_part"]

_SHOWN = 6


class _ReachedError(BaseException):
    """Ends the pass of the whole model; no `Exception`, because models may catch these."""


class Writes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Announces tensors that operators are about to write."""

    def __init__(self, announce: Callable[[Tensor], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._announce = announce

    def __torch_dispatch__(self, func: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operator."""
        for tensor in find_written(func, args, kwargs or {}):
            self._announce(tensor)
        return func(*args, **(kwargs or {}))


def find_part(model: nn.Module, path: str, name: str) -> nn.Module:
    """Find a submodule.

    Args:
        model: The whole model.
        path: The dotted path of the submodule.
        name: The author's name for the model, for messages.

    Raises:
        TargetError: if there is none.
    """
    parts: dict[str, nn.Module] = dict(model.named_modules())
    if not path or path not in parts:
        known = [part for part in parts if part]
        near = difflib.get_close_matches(path, known, n=1)
        others = f"its modules are {', '.join(known[:_SHOWN])}{', …' * (len(known) > _SHOWN)}"
        hint = f"did you mean {near[0]!r}?" if near else others if known else "it has none"
        raise TargetError(f"option `part`: {name} has no module {path!r}; {hint}")
    return parts[path]


def find_method(model: nn.Module, name: str | None, of: str) -> Callable[..., Any] | None:
    """Find the method that the author names; None for ``forward``.

    Args:
        model: The model.
        name: The method's name; None for ``forward``.
        of: The author's name for the model, for messages.

    Raises:
        TargetError: if there is none, or if the model is no module.
    """
    if name is None or name == "forward":
        return None
    if not isinstance(model, torch.nn.Module):
        raise TargetError(f"option `method`: expected a module, got {of}; trace the method itself")
    found = getattr(model, name, None)
    if callable(found) and not isinstance(found, torch.nn.Module):
        return found  # type: ignore[no-any-return]
    own = [key for kind in type(model).__mro__ if kind.__module__ != "torch.nn.modules.module" for key in vars(kind)]
    known = [key for key in dict.fromkeys(own) if not key.startswith("_") and callable(getattr(model, key, None))]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known[:_SHOWN])}"
    raise TargetError(f"option `method`: {of} has no method {name!r}; {hint}")


def find_call(
    model: nn.Module, part: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Run a model until it calls a submodule, and return the arguments of that call.

    Args:
        model: The whole model.
        part: The submodule.
        args: Positional arguments of the model.
        kwargs: Keyword arguments of the model.
        name: The author's name for the part, for messages.

    Raises:
        TargetError: if the model raises before, or doesn't call it.
    """
    found: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def keep(_: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        found.append((given, named))
        raise _ReachedError

    if any(parameter.is_meta for parameter in model.parameters()):
        args, kwargs = pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.to("meta"), (args, kwargs))
    hook = part.register_forward_pre_hook(keep, with_kwargs=True)
    try:
        with user_code(f"the forward pass of {name}"), seeded(), torch.no_grad():
            _run(model, args, kwargs)
    finally:
        hook.remove()
    if not found:
        raise TargetError(f"option `part`: a pass of the model does not call {name}, so it has no inputs")
    return found[0]


def _run(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    try:
        model(*args, **kwargs)
    except _ReachedError:
        return
