"""Call a class or a factory function for a model, in memory if its weights can be afforded."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch
import yaml
from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.options.reading import yaml_line
from modeldiagrams.resolve.code.forward import parameters_of
from modeldiagrams.resolve.code.user_code import user_code
from modeldiagrams.resolve.names.conventions import likely_value, required_parameters
from modeldiagrams.resolve.values.allocations import Allocations, TooLargeError
from modeldiagrams.resolve.values.locate import described, did_you_mean
from modeldiagrams.resolve.values.option_values import from_option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["call_problem", "construct", "construct_afforded"]

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
    problem = call_problem(found, args, kwargs)
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
        raise TargetError(f"expected {name} to make a torch.nn.Module, got {described(model)}")
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


def call_problem(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> str | None:
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
            return f"got an unexpected keyword argument {name!r}{did_you_mean(name, parameters)}"
    return ""


def _example(found: Callable[..., Any], name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    """What to write for the option `kwargs` if that works; objects such as a data set can't be written there."""
    known = [*parameters_of(found)]
    given = {key: value for key, value in kwargs.items() if key in known[len(args) :]}
    likely = {
        p.name: likely_value(p) for p in required_parameters(found) if p.name not in (*given, *known[: len(args)])
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
                found(*from_option(tried["args"]), **from_option(tried["kwargs"]))
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
