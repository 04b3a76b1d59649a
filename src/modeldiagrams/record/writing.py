"""A call as options: values → entries as an author would write them in `kwargs` and `inputs`.

Runs in the process of tests, after torch was imported there.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import math
import sys
import types
from argparse import Namespace
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from modeldiagrams.common.class_facts import full_name, module_of, qualified_name
from modeldiagrams.options.call import RecordedCall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["NotWritableError", "class_path", "note_arguments", "write_call"]

_Arguments = tuple[tuple[Any, ...], dict[str, Any]]
_NOTED = "_modeldiagrams_arguments"
"""Attribute of a module."""

_DEEPEST = 8
_MOST_LISTED = 16
"""Elements of a tensor that is written with its values."""
_MOST_EXACT = 8
"""The same of an input."""
_MOST_PLAIN = 2000
"""Characters of a plain value."""
_ENOUGH = 32
"""Elements that tell in which range random numbers lie."""
_PLACES = ("torch", "torch.nn", "torch.nn.functional", "math", "operator", "builtins")
"""Where functions are that don't know their module, and shorter paths of others."""
_TESTS = frozenset({"test", "tests", "conftest", "__main__"})
"""Modules that documentation can't import."""
_NOT_SAVED = ("transformers_version", "model_type", "architectures")
"""What configurations of Hugging Face say about themselves."""


class NotWritableError(Exception):
    """A value that options can't hold."""


class _Noted:
    """What a module was constructed with. Copies of the module share it; files of pickled modules have None instead."""

    def __init__(self, arguments: _Arguments) -> None:
        self.arguments = arguments

    def __deepcopy__(self, _memo: object) -> _Noted:
        return self

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return type(None), ()


def note_arguments(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Remember what a module is about to be constructed with."""
    vars(module)[_NOTED] = _Noted((_copied(args), _copied(kwargs)))


def _copied(value: Any) -> Any:
    """A value with its own containers, because constructors change those that they are given."""
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    return type(value)(map(_copied, value)) if type(value) in {list, tuple} else value


def write_call(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], seen: str) -> RecordedCall:
    """Write what a module was constructed with, and what it is called with.

    Args:
        module: The module.
        args: Positional inputs.
        kwargs: Named inputs.
        seen: Where it is called.

    Raises:
        NotWritableError: naming the argument or the input that options can't hold.
    """
    positional, named = _arguments(type(module), _noted(module, "the model"), 0)
    given = _by_name(module.forward, args, kwargs)
    inputs = {name: _input(value, f"the input `{name}`", 0) for name, value in given.items()}
    by_position = [*inputs] == [*range(len(inputs))]
    return RecordedCall(
        seen=seen, args=positional or None, kwargs=named or None, inputs=[*inputs.values()] if by_position else inputs
    )


def _noted(module: nn.Module, where: str) -> _Arguments:
    noted = vars(module).get(_NOTED)
    if noted is None:
        raise NotWritableError(f"{where} was loaded from a file, so what it was constructed with is unknown")
    arguments: _Arguments = noted.arguments
    return arguments


def class_path(class_: type) -> str:
    """The shortest path of a class through the packages around it.

    Raises:
        NotWritableError: if no module has it under its name.
    """
    return _path(class_, "")


def _arguments(maker: Callable[..., Any], made: _Arguments, depth: int) -> tuple[list[Any], dict[str, Any]]:
    """Positional and named arguments, without those that are the defaults."""
    args, kwargs = made
    parameters = _parameters(maker)
    by_name = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    if len(args) <= len(by_name):
        args, kwargs = (), {**dict(zip(by_name, args, strict=False)), **kwargs}
    given = {name: value for name, value in kwargs.items() if not _is_default(parameters.get(name), value)}
    positional = [_value(value, f"argument {position}", depth) for position, value in enumerate(args)]
    return positional, {name: _value(value, f"argument `{name}`", depth) for name, value in given.items()}


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _is_default(parameter: inspect.Parameter | None, value: Any) -> bool:
    if parameter is None or type(parameter.default) is not type(value):
        return False
    is_plain = isinstance(value, str | int | float | tuple | None) and not isinstance(value, enum.Enum)
    return parameter.default is value or (is_plain and bool(parameter.default == value))


def _by_name(forward: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str | int, Any]:
    """Inputs by the names of forward's parameters, or by position where not all have one."""
    parameters = _parameters(forward)
    names = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    if len(args) > len(names):
        return dict([*enumerate(args), *kwargs.items()])
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    return {name: value for name, value in given.items() if not _is_default(parameters.get(name), value)}


def _value(value: Any, where: str, depth: int) -> Any:  # noqa: C901, PLR0911, PLR0912  (one case for each kind)
    """An entry of the options `args` and `kwargs`."""
    if depth > _DEEPEST:
        raise NotWritableError(f"{where} is nested too deeply")
    inner = functools.partial(_value, where=where, depth=depth + 1)
    match value:
        case enum.Enum():
            return {"_target_": _path(type(value), where), "_args_": [inner(value.value)]}
        case None | bool() | int() | float() | str():
            return _plain(value, where)
        case Tensor():
            return _tensor_argument(value, where)
        case nn.Module():
            return _module(value, where, depth)
        case torch.device():
            return {"_target_": "torch.device", "_args_": [str(value)]}
        case torch.dtype():
            return {"_object_": str(value)}
        case functools.partial():
            made = (value.args, value.keywords)
            return {**_call(_path(value.func, where), made, value.func, depth), "_partial_": True}
        case list() | tuple() | range() if not hasattr(value, "_asdict"):
            return [inner(item) for item in value]
        case dict() if all(type(key) in {str, int} for key in value):
            plain = {key: inner(item) for key, item in value.items()}
            is_plain = type(value) in {dict, OrderedDict}
            return plain if is_plain else {"_target_": _path(type(value), where), "_args_": [plain]}
        case type() | types.FunctionType() | types.BuiltinFunctionType():
            return {"_object_": _path(value, where)}
    if (fields := _fields(value)) is not None:
        return _call(_path(type(value), where), ((), fields), type(value), depth)
    if callable(scalar := getattr(value, "item", None)) and getattr(value, "ndim", None) == 0:  # a number of NumPy
        return _plain(scalar(), where)
    raise NotWritableError(f"{where} is an object of the class {full_name(type(value))}")


def _fields(value: Any) -> dict[str, Any] | None:
    """What an object is made of that is constructed with its attributes; None for other objects."""
    if isinstance(value, types.SimpleNamespace | Namespace):
        return dict(vars(value))
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return dict(value._asdict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value) if one.init}
    if callable(changes := getattr(value, "to_diff_dict", None)):  # configurations of Hugging Face
        return {str(name): one for name, one in changes().items() if name not in _NOT_SAVED}
    return None


def _plain(value: Any, where: str) -> Any:
    if type(value) not in {type(None), bool, int, float, str} or (isinstance(value, str) and len(value) > _MOST_PLAIN):
        raise NotWritableError(f"{where} is an object of the class {full_name(type(value))}")
    return value


def _call(path: str, made: _Arguments, maker: Callable[..., Any], depth: int) -> dict[str, Any]:
    args, kwargs = _arguments(maker, made, depth + 1)
    return {"_target_": path, **({"_args_": args} if args else {}), **kwargs}


def _module(module: nn.Module, where: str, depth: int) -> dict[str, Any]:
    """A module, by the call that constructed it; containers by what they hold now."""
    if type(module) in {nn.Sequential, nn.ModuleList}:
        held = (*module.children(),)
        arguments: _Arguments = (held if isinstance(module, nn.Sequential) else ([*held],), {})
    else:
        arguments = _noted(module, f"{where}, a {type(module).__name__},")
    return _call(_path(type(module), where), arguments, type(module), depth)


def _tensor_argument(value: Tensor, where: str) -> dict[str, Any]:
    _check_tensor(value, where)
    if value.numel() <= _MOST_LISTED and not value.is_meta:
        plain = {"_target_": "torch.tensor", "_args_": [value.tolist()]}
        is_inferred = value.dtype in {torch.float32, torch.int64, torch.bool} and value.numel()
        return plain if is_inferred else {**plain, "dtype": {"_object_": str(value.dtype)}}
    if not _is_constant(value):
        raise NotWritableError(f"{where} is a tensor with {value.numel()} values")
    dtype = {} if value.dtype == torch.float32 else {"dtype": {"_object_": str(value.dtype)}}
    fill = value.flatten()[0].item()
    return {"_target_": "torch.full", "_args_": [list(value.shape), fill], **dtype}


def _is_constant(value: Tensor) -> bool:
    return not value.is_meta and not value.is_complex() and bool((value == value.flatten()[0]).all())


def _check_tensor(value: Tensor, where: str) -> None:
    if type(value) not in {Tensor, nn.Parameter} or value.layout is not torch.strided or value.is_nested:
        raise NotWritableError(f"{where} is a tensor of the class {full_name(type(value))} ({value.layout})")
    if value.is_quantized:
        raise NotWritableError(f"{where} is a quantised tensor")


def _input(value: Any, where: str, depth: int) -> Any:
    """An entry of the option `inputs`."""
    if depth > _DEEPEST:
        raise NotWritableError(f"{where} is nested too deeply")
    inner = functools.partial(_input, where=where, depth=depth + 1)
    if isinstance(value, Tensor):
        return _tensor_input(value, where)
    if (fields := _fields(value)) is not None:
        return {"_target_": _path(type(value), where), **{name: inner(one) for name, one in fields.items()}}
    if isinstance(value, list | tuple) and value:
        return [inner(item) for item in value]
    if (
        isinstance(value, dict) and value and "shape" not in value and value.keys() != {"value"}
    ):  # else read as a tensor
        return {key: inner(item) for key, item in value.items()}
    plain = _value(value, where, depth)
    if isinstance(plain, dict) and not isinstance(value, dict):
        raise NotWritableError(f"{where} is an object of the class {full_name(type(value))}")
    return {"value": plain}


def _tensor_input(value: Tensor, where: str) -> Any:
    """A shape; the range of whole numbers, the values of a few, and whether real numbers are not negative."""
    _check_tensor(value, where)
    shape, dtype = list(value.shape), str(value.dtype).removeprefix("torch.")
    if value.is_meta or not value.numel() or value.is_complex():
        return {"shape": shape, "dtype": dtype}
    if not value.is_floating_point():
        if value.ndim <= 1 and value.numel() <= _MOST_EXACT and value.dtype in {torch.int64, torch.bool}:
            return {"_target_": "torch.tensor", "data": {"value": value.tolist()}}
        low, high = int(value.to(torch.int64).min()), int(value.to(torch.int64).max())
        return {"shape": shape, "dtype": dtype, "low": low if high - low < 2 else min(low, 0), "high": high + 1}
    entry: dict[str, Any] = {"shape": shape, **({} if dtype == "float32" else {"dtype": dtype})}
    least, most = float(value.detach().amin()), float(value.detach().amax())
    if value.numel() >= _ENOUGH and 0 <= least < most < math.inf:
        entry |= {"low": 0, "high": 1 if most <= 1 else 1 << math.ceil(math.log2(most))}
    return shape if shape and [*entry] == ["shape"] else entry


def _path(found: Any, where: str) -> str:
    """The shortest dotted path, among the packages around it, that leads to this very class or function."""
    is_class = isinstance(found, type)
    module = module_of(found) if is_class else getattr(found, "__module__", None)
    name = qualified_name(found) if is_class else getattr(found, "__qualname__", type(found).__name__)
    parts = str(module).split(".")
    around = [".".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
    is_test = any(part in _TESTS or part.startswith("test_") for part in parts)
    for place in [] if is_test else (*around, *_PLACES):
        for tried in dict.fromkeys((name, name.rpartition(".")[2])):
            if place != "__main__" and _at(place, tried) is found:
                return f"{place}.{tried}"
    what = "a lambda" if "<lambda>" in name else name
    raise NotWritableError(f"{where} is {what}, which documentation can't import")


def _at(module: str, name: str) -> Any:
    """What a loaded module has; nothing is imported."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    return found
