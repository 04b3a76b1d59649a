"""What a model is that is no module: which function runs, with which arguments, and which modules it uses."""

from __future__ import annotations

import contextlib
import functools
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from modeldiagrams.tracer.torch_facts.argument_names import bind_arguments
from modeldiagrams.tracer.torch_facts.private_api import modules_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["modules_behind", "unwrap", "used_by"]

_MAX_DEPTH = 4
"""Functions inside functions that are searched for modules."""


def unwrap(model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The function inside a `functools.partial` or the module that `torch.compile` wrapped, with all its arguments."""
    while True:
        if isinstance(model, functools.partial):
            model, args, kwargs = model.func, (*model.args, *args), {**model.keywords, **kwargs}
        elif (inner := getattr(model, "_orig_mod", None)) is not None:
            model = inner
        else:
            return model, tuple(args), dict(kwargs)


def modules_behind(model: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[tuple[str, nn.Module]]:
    """Every module of a model, itself included, under each of its paths.

    Those of a method are its object's, and those of a function are named by the variables and parameters that hold
    them.
    """
    owner = model.__self__ if isinstance(model, MethodType) else model
    if isinstance(owner, nn.Module):
        return modules_of(owner)
    if isinstance(owner, FunctionType):
        held = {**used_by(owner), **dict(bind_arguments(owner, args, kwargs))}
    else:
        held = dict(getattr(owner, "__dict__", {}))
    modules = {name: value for name, value in held.items() if issubclass(type(value), nn.Module)}
    return [
        (f"{name}.{path}".removesuffix("."), module)
        for name, root in modules.items()
        for path, module in modules_of(root)
    ]


def used_by(function: FunctionType, depth: int = 0) -> dict[str, Any]:
    """The modules and tensors in a function's closure and among the global variables that it names, by name."""
    held = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        with contextlib.suppress(ValueError):  # not filled yet
            held[name] = cell.cell_contents
    found: dict[str, Any] = {}
    for name, value in held.items():
        if issubclass(type(value), Tensor | nn.Module):
            found[name] = value
        elif isinstance(value, FunctionType) and depth < _MAX_DEPTH and name in function.__code__.co_freevars:
            found = {**used_by(value, depth + 1), **found}
    return found
