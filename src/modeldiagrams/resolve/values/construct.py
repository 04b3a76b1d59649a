"""Calls a class or factory for a model, within what memory can afford."""

from __future__ import annotations

import inspect
import math
import re
import weakref
from typing import TYPE_CHECKING, Any

import torch
import yaml
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from modeldiagrams.errors import TargetError
from modeldiagrams.options.reading import yaml_line
from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.code.user_code import user_code
from modeldiagrams.resolve.names.conventions import find_likely_value, list_required_parameters
from modeldiagrams.resolve.values.locate import describe_object, suggest_name
from modeldiagrams.resolve.values.option_values import make_option_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Allocations", "TooLargeError", "construct", "construct_afforded", "find_call_problem"]

_OBJECT = "types.SimpleNamespace"
_FACTORY = ", or name a function of yours that makes the model"


def construct(found: Callable[..., Any], name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> nn.Module:
    """Call a class or a factory function.

    Args:
        found: The class or the function.
        name: The author's name for it.
        args: Positional arguments.
        kwargs: Keyword arguments.

    Returns:
        The model.

    Raises:
        TargetError: if it can't be called with these arguments, if it raised, or if it made no model.
    """
    problem = find_call_problem(found, args, kwargs)
    if problem:
        raise TargetError(
            f"{name} can't be called like this: {problem}; write its arguments with the options `args` and "
            f"`kwargs`{_example(found, name, args, kwargs)}"
        )
    try:
        with user_code(f"calling {name}"):
            model = found(*args, **kwargs)
    except TargetError as error:
        if hint := _objects_hint(found, error, args, kwargs):
            raise TargetError(f"{error}{hint}", error.frames) from error.__cause__
        raise
    if not isinstance(model, nn.Module):
        raise TargetError(f"expected {name} to make a torch.nn.Module, got {describe_object(model)}")
    return model


def construct_afforded(make: Callable[[], nn.Module], most: float, *, is_configured: bool) -> nn.Module:
    """Make a model, on the meta device if it has more parameters than can be afforded.

    Args:
        make: Makes it in any case; called again after it used too much memory, or if it needs values.
        most: Number of parameters up to which the model has memory for its weights.
        is_configured: Whether it is made from a configuration. Then it is likely to be large, and to run on the meta
            device, where that is tried first.

    Returns:
        The model.

    Raises:
        TargetError: as `make`.
    """
    if not is_configured:
        try:
            with Allocations(most):
                return make()
        except TooLargeError:
            pass
    try:
        with torch.device("meta"):
            model = make()
    except TargetError as error:
        if is_configured and "meta" not in str(error):
            raise  # with weights it would fail, too, after filling the memory
    else:
        if sum(parameter.numel() for parameter in model.parameters()) > most:
            return model
    return make()


def find_call_problem(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> str | None:
    """Why a function can't be called this way; None if it can, or if its parameters are not known."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        said = _unexpected(signature.parameters, kwargs) or str(error)
        return f"{said} (its parameters: {', '.join(signature.parameters) or 'none'})"
    return None


def _unexpected(parameters: Mapping[str, inspect.Parameter], kwargs: dict[str, Any]) -> str:
    """Of a misspelt argument; Python names the one that is missing then. Nothing where any name is taken."""
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return ""
    for name in kwargs:
        if name not in parameters:
            return f"got an unexpected keyword argument {name!r}{suggest_name(name, parameters)}"
    return ""


def _example(found: Callable[..., Any], name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    """What to write for the option `kwargs` if that works; objects such as a data set can't be written there."""
    known = [*get_parameters(found)]
    given = {key: value for key, value in kwargs.items() if key in known[len(args) :]}
    likely = {
        p.name: find_likely_value(p)
        for p in list_required_parameters(found)
        if p.name not in (*given, *known[: len(args)])
    }
    example = {**given, **likely}
    if not likely:
        return ""
    if None in likely.values():
        return _FACTORY
    try:
        with torch.device("meta"):
            construct(found, name, args, example)
    except TargetError:
        return _FACTORY
    return f", e.g. `kwargs: {yaml_line(example)}`"


def _objects_hint(found: Callable[..., Any], error: TargetError, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    """What to write where an author gave a map and the model reads attributes of it, if that works."""
    cause = error.__cause__
    if not (isinstance(cause, AttributeError) and isinstance(cause.obj, dict) and cause.name in cause.obj):
        return ""
    given = {"args": [*args], "kwargs": kwargs}
    for deep in (False, True):
        tried = {option: _with_objects(value, deep=deep, level=0) for option, value in given.items()}
        try:
            with torch.device("meta"), user_code(f"calling it with {_OBJECT}"):
                found(*make_option_value(tried["args"]), **make_option_value(tried["kwargs"]))
            changed = [f"`{option}: {yaml_line(tried[option])}`" for option in given if tried[option] != given[option]]
        except (TargetError, yaml.YAMLError):
            continue
        return f"; it reads attributes of an object there: write {' and '.join(changed)}"
    return ""


def _with_objects(value: Any, *, deep: bool, level: int = 1) -> Any:
    """An option whose maps are entries for objects with attributes, those inside them only if it is `deep`."""
    if level > 1 and not deep:
        return value
    if isinstance(value, list):
        return [_with_objects(one, deep=deep, level=level + 1) for one in value]
    if not isinstance(value, dict):
        return value
    inner = {name: _with_objects(one, deep=deep, level=level + 1) for name, one in value.items()}
    return {"_target_": _OBJECT, **inner} if level else inner


_OUT_OF_MEMORY = re.compile("an(no|')t allocate memory|out of memory")


class TooLargeError(BaseException):
    """A tensor is too large; the user's handlers don't catch this."""


class Allocations(TorchFunctionMode):
    """Ends the block once its tensors have too many elements."""

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
