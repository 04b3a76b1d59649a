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

from modeldiagrams.common.class_facts import find_module, get_full_name, get_qualified_name
from modeldiagrams.options.call import RecordedCall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["NotWritableError", "dotted_path", "note_arguments", "write_call"]

_Arguments = tuple[tuple[Any, ...], dict[str, Any]]
_NOTED = "_modeldiagrams_arguments"
"""Attribute of a module."""
_MOST_LISTED = 64
"""Elements of a tensor that is written with its values."""
_PLAIN = frozenset({type(None), bool, int, float, str})
_MOST_EXACT = 16
"""The same of an input of whole numbers."""
_MOST_TEXT = 2000
_ENOUGH = 32
"""Elements that show in which range random numbers lie."""
_PLACES = ("torch", "torch.nn.functional", "math", "operator", "builtins")
"""Where functions are that don't know their module."""
_TESTS = frozenset({"test", "tests", "conftest", "__main__"})
"""Modules that documentation can't import."""
_ABOUT_ITSELF = ("transformers_version", "model_type", "architectures")
"""Fields of Hugging Face's configurations that their constructors don't take."""


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
    vars(module)[_NOTED] = _Noted((_copied(args), _copied(kwargs) if kwargs else kwargs))


def _copied(value: Any) -> Any:
    """A value with its own containers, because constructors change those that they are given."""
    kind = type(value)
    if kind is dict:
        return {key: _copied(item) for key, item in value.items()}
    return kind([_copied(item) for item in value]) if kind is tuple or kind is list else value


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
    arguments = _entries(type(module), _arguments_of(module), _value, "argument")
    inputs = _entries(module.forward, (args, kwargs), _input, "input")
    positions = [name for name in arguments if isinstance(name, int)]
    return RecordedCall(
        seen=seen,
        args=[arguments[position] for position in positions] or None,
        kwargs={str(name): entry for name, entry in arguments.items() if name not in positions} or None,
        inputs=[*inputs.values()] if [*inputs] == [*range(len(inputs))] else inputs,
    )


def _entries(function: Callable[..., Any], given: _Arguments, write: Callable[[Any], Any], noun: str) -> dict[Any, Any]:
    """What a function is called with, by name, or by position where not all have one; without defaults."""
    try:
        parameters: Mapping[str, inspect.Parameter] = inspect.signature(function).parameters
    except (TypeError, ValueError):
        parameters = {}
    (args, kwargs), entries = given, dict[Any, Any]()
    names = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    keys = names if len(args) <= len(names) else range(len(args))
    for key, value in [*zip(keys, args, strict=False), *kwargs.items()]:
        if isinstance(key, str) and key in parameters and _is_same(value, parameters[key].default):
            continue
        try:
            entries[key] = write(value)
        except NotWritableError as error:
            raise NotWritableError(f"the {noun} `{key}` is {error}") from error
    return entries


def _is_same(value: Any, default: Any) -> bool:
    is_plain = type(value) in _PLAIN | {tuple}
    return value is default or (is_plain and type(value) is type(default) and bool(value == default))


def _arguments_of(module: nn.Module) -> _Arguments:
    """What constructs a module like this one; containers by what they hold now."""
    if type(module) in {nn.Sequential, nn.ModuleList}:
        held = tuple(module.children())
        return (held if isinstance(module, nn.Sequential) else ([*held],)), {}
    noted = vars(module).get(_NOTED)
    if noted is None:
        raise NotWritableError(f"a {type(module).__name__} from a file, whose arguments are unknown")
    arguments: _Arguments = noted.arguments
    return arguments


def _value(value: Any) -> Any:  # noqa: C901, PLR0911, PLR0912  (one for each kind)
    """An entry of the options `args` and `kwargs`."""
    match value:
        case enum.Enum():
            return {"_target_": dotted_path(type(value)), "_args_": [_value(value.value)]}
        case None | bool() | int() | float() | str() if type(value) in _PLAIN and len(str(value)) <= _MOST_TEXT:
            return value
        case Tensor():
            return _tensor(value)
        case nn.Module():
            return _target(type(value), _arguments_of(value))
        case torch.device():
            return {"_target_": "torch.device", "_args_": [str(value)]}
        case torch.dtype():
            return {"_object_": str(value)}
        case functools.partial():
            return {**_target(value.func, (value.args, value.keywords)), "_partial_": True}
        case type() | types.FunctionType() | types.BuiltinFunctionType():
            return {"_object_": dotted_path(value)}
    if (fields := _fields(value)) is not None:
        return _target(type(value), ((), fields))
    if isinstance(value, list | tuple | range):
        items = [_value(item) for item in value]
        # many constructors take lists and tuples for different things
        return {"_target_": "builtins.tuple", "_args_": [items]} if isinstance(value, tuple) else items
    if isinstance(value, dict) and all(type(key) in {str, int} for key in value):
        plain = {key: _value(item) for key, item in value.items()}
        if len({str(key) for key in plain}) < len(plain):
            raise NotWritableError("a dict with keys that are equal as text")
        return (
            plain if type(value) in {dict, OrderedDict} else {"_target_": dotted_path(type(value)), "_args_": [plain]}
        )
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):  # a number of NumPy
        return value.item()
    raise NotWritableError(f"an object of the class {get_full_name(type(value))}")


def _target(maker: Callable[..., Any], arguments: _Arguments) -> dict[Any, Any]:
    entries = _entries(maker, arguments, _value, "argument")
    args = [entry for key, entry in entries.items() if isinstance(key, int)]
    kwargs = {key: entry for key, entry in entries.items() if not isinstance(key, int)}
    return {"_target_": dotted_path(maker), **({"_args_": args} if args else {}), **kwargs}


def _fields(value: Any) -> dict[str, Any] | None:
    """What an object is made of that is constructed with its attributes; None for other objects."""
    if isinstance(value, types.SimpleNamespace | Namespace):
        return dict(vars(value))
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return dict(value._asdict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value) if one.init}
    if callable(changes := getattr(value, "to_diff_dict", None)):  # configurations of Hugging Face
        return {str(name): one for name, one in changes().items() if name not in _ABOUT_ITSELF}
    return None


def _tensor(value: Tensor) -> dict[str, Any]:
    """A small tensor with its values."""
    _check(value)
    if value.numel() > _MOST_LISTED or value.is_meta:
        raise NotWritableError(f"a tensor with {value.numel()} values")
    is_inferred = value.dtype in {torch.float32, torch.int64, torch.bool} and value.numel()
    dtype = {} if is_inferred else {"dtype": {"_object_": str(value.dtype)}}
    return {"_target_": "torch.tensor", "_args_": [value.tolist()], **dtype}


def _check(value: Tensor) -> None:
    is_usual = type(value) in {Tensor, nn.Parameter} and value.layout is torch.strided
    if not is_usual or value.is_nested or value.is_quantized:
        raise NotWritableError(f"a tensor of the class {get_full_name(type(value))} and of the layout {value.layout}")


def _input(value: Any) -> Any:
    """An entry of the option `inputs`."""
    if isinstance(value, Tensor):
        return _tensor_like(value)
    if (fields := _fields(value)) is not None:
        return {"_target_": dotted_path(type(value)), **{name: _input(one) for name, one in fields.items()}}
    if isinstance(value, list | tuple) and value:
        return [_input(item) for item in value]
    if (
        isinstance(value, dict) and value and "shape" not in value and value.keys() != {"value"}
    ):  # else read as a tensor
        return {key: _input(item) for key, item in value.items()}
    plain = _value([*value] if isinstance(value, tuple) else value)
    if isinstance(plain, dict) and not isinstance(value, dict):
        raise NotWritableError(f"an object of the class {get_full_name(type(value))}")
    if "_target_" in repr(plain) or "_object_" in repr(plain):
        raise NotWritableError("a dict with the key `shape` that holds tensors or objects")
    return {"value": plain}


def _tensor_like(value: Tensor) -> Any:
    """A shape; the range of whole numbers, the values of a few, and whether real numbers are not negative."""
    _check(value)
    entry: dict[str, Any] = {"shape": [*value.shape], "dtype": str(value.dtype).removeprefix("torch.")}
    if value.is_meta or not value.numel() or value.is_complex():
        return entry
    if value.is_floating_point():
        least, most = float(value.detach().amin()), float(value.detach().amax())
        if value.numel() >= _ENOUGH and 0 <= least < most < math.inf:
            entry |= {"low": 0, "high": 1 if most <= 1 else 1 << math.ceil(math.log2(most))}
        entry = {name: one for name, one in entry.items() if one != "float32"}  # the default
        return entry["shape"] if value.ndim and len(entry) == 1 else entry
    if value.ndim <= 1 and value.numel() <= _MOST_EXACT and value.dtype in {torch.int64, torch.bool}:
        return {"_target_": "torch.tensor", "data": {"value": value.tolist()}}
    whole = value.to(torch.int64)
    low, most = int(whole.min()), int(whole.max())
    return {**entry, "low": low if most - low <= 1 else min(low, 0), "high": most + 1}


def dotted_path(found: Any) -> str:
    """The shortest dotted path, among the packages around it, that leads to this very class or function.

    Raises:
        NotWritableError: if documentation can't import it.
    """
    is_class = isinstance(found, type)
    module = find_module(found) if is_class else getattr(found, "__module__", None)
    name = get_qualified_name(found) if is_class else getattr(found, "__qualname__", type(found).__name__)
    parts = str(module).split(".")
    around = [".".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
    is_test = any(part in _TESTS or part.startswith("test_") for part in parts)
    for place in [] if is_test else (*around, *_PLACES):
        for tried in dict.fromkeys((name, name.rpartition(".")[2])):
            if _at(place, tried) is found:
                return f"{place}.{tried}"
    what = "a lambda" if "<lambda>" in name else name
    raise NotWritableError(f"{what}, which documentation can't import")


def _at(module: str, name: str) -> Any:
    """What a loaded module has; nothing is imported."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    return found
