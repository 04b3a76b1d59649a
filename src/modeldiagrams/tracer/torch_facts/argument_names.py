"""Names of the arguments of torch functions.

Python functions have a signature, custom ops a schema. Built-in functions have neither: for them, we try the schemas
of the operators of the same name, like torch's argument parser. `torch.fx.operator_schemas.normalize_function` doesn't
know methods of tensors (``x.view``) and takes 20-120 µs per call instead of 2-4 µs.
"""

from __future__ import annotations

import functools
import inspect
from types import FunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from modeldiagrams.tracer.torch_facts.private_api import (
    Operator,
    OperatorPacket,
    ScriptFunction,
    chosen_by_flag,
    schema_of,
    schemas_named,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ACCEPTED: tuple[tuple[type, tuple[str, ...]], ...] = (
    (Tensor, ("Tensor",)),
    (bool, ("bool", "number")),
    (int, ("int", "float", "number")),
    (float, ("float", "number")),
    (str, ("str", "Device")),
    (torch.dtype, ("ScalarType",)),
    (torch.device, ("Device",)),
    (list, ()),
    (tuple, ()),
    (type(None), ()),
)
_AFTER_SELF = {"__getitem__": ("key",), "__setitem__": ("key", "value"), "__set__": ("value",)}
"""Arguments of special methods after ``self``; all other methods take ``other``."""
_Names: TypeAlias = tuple[tuple[str, ...], str | None]
"""Names of the positional parameters, and of ``*args`` if there is one."""
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def bind_arguments(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    """Pair all arguments with their names, or with ``"0"``, ``"1"``… if the names are unknown.

    Sizes passed separately (``x.view(2, 3)``) become one list. The memo of ``__deepcopy__`` is left out.
    """
    args = args[:1] if getattr(function, "__name__", "") == "__deepcopy__" else args
    names = _find_names(function, args)
    bound = list(zip(map(str, range(len(args))) if names is None else names, args, strict=False))
    if names is not None and len(args) > len(names):
        bound[-1] = (names[-1], list(args[len(names) - 1 :]))
    return [*bound, *kwargs.items()]


def _find_names(function: Any, args: Sequence[Any]) -> tuple[str, ...] | None:
    """Names for these arguments; fewer names than arguments if the last one takes the rest."""
    if isinstance(function, Operator):
        return tuple(argument.name for argument in schema_of(function).arguments)
    if isinstance(function, OperatorPacket):
        schemas = [schema_of(getattr(function, name)) for name in function.overloads()]
        return _from_schemas(schemas, tuple(map(type, args)))
    if inspect.isfunction(function):
        names = _from_signature(chosen_by_flag(function), args)
        if names is not None:
            return names
    name = getattr(function, "__name__", "")
    if name.startswith("__"):
        return ("self", *_AFTER_SELF.get(name, ("other",)))[: len(args)]
    names = _of_builtin(name, tuple(map(type, args))) or _of_opaque(function, args)
    if names is None and isinstance(function, MethodDescriptorType):
        names = ("self", *map(str, range(1, len(args))))
    return names


def _of_opaque(run: Any, args: Sequence[Any]) -> tuple[str, ...] | None:
    """Names for an opaque function (autograd or scripted), which is bound as the first argument."""
    owner = next(iter(run.args), None) if isinstance(run, functools.partial) else getattr(run, "__self__", None)
    if isinstance(owner, ScriptFunction):
        return tuple(argument.name for argument in owner.schema.arguments)
    if isinstance(owner, type) and issubclass(owner, torch.autograd.Function):
        is_split = owner.setup_context is not torch.autograd.Function.setup_context  # its forward takes no ``ctx``
        names = _from_signature(owner.forward, args if is_split else (None, *args))
        return names if names is None or is_split else names[1:] or None
    return None


@functools.lru_cache(maxsize=4096)
def _of_builtin(name: str, kinds: tuple[type, ...]) -> tuple[str, ...] | None:
    return _from_schemas(schemas_named(f"aten::{name}"), kinds)


def _from_signature(function: Callable[..., Any], args: Sequence[Any]) -> tuple[str, ...] | None:
    try:
        names, rest = positional_names(function)
    except ValueError:  # wraps a built-in
        return None
    if rest is not None:
        return (*names, rest) if names or rest not in ("args", "_") else None
    return names if len(args) <= len(names) else None


def positional_names(function: Callable[..., Any]) -> tuple[tuple[str, ...], str | None]:
    """Names of a function's positional parameters, without a method's ``self``, and of ``*args`` if there is one.

    Raises:
        TypeError: if `inspect.signature` can't handle the object.
        ValueError: for a built-in function without a signature.
    """
    # the function whose signature `inspect.signature` would read
    inner: Any = inspect.unwrap(getattr(function, "__func__", function), stop=lambda f: hasattr(f, "__signature__"))
    if type(inner) is not FunctionType:
        return _positional_names(function)
    if inner not in _known:
        _known[inner] = _positional_names(inner)
    names, rest = _known[inner]
    return names[inspect.ismethod(function) :], rest


# reading a signature takes as long as recording ten ops
_known: WeakKeyDictionary[FunctionType, _Names] = WeakKeyDictionary()


def _positional_names(function: Callable[..., Any]) -> _Names:
    parameters = inspect.signature(function).parameters.values()
    rest = next((p.name for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL), None)
    return tuple(p.name for p in parameters if p.kind in _POSITIONAL), rest


def _from_schemas(schemas: Sequence[Any], kinds: Sequence[type]) -> tuple[str, ...] | None:
    for schema in schemas:
        expected = [argument for argument in schema.arguments if not argument.kwarg_only]
        if _accepts(expected, kinds):
            return tuple(argument.name for argument in expected)
    return None


def _accepts(expected: Sequence[Any], kinds: Sequence[type]) -> bool:
    """Whether arguments of these classes fit a schema, whose last list may be passed as several sizes or tensors."""
    n = len(expected)
    if len(kinds) > n > 0 and any(all(issubclass(kind, item) for kind in kinds[n - 1 :]) for item in (int, Tensor)):
        kinds = [*kinds[: n - 1], list]
    if len(kinds) > n:
        return False
    return all(_fits(str(e.real_type), kind) for e, kind in zip(expected, kinds, strict=False))


def _fits(type_name: str, kind: type) -> bool:
    """Whether a class fits a type of torch's schema language, such as ``Optional[List[int]]``."""
    if type_name.startswith("Optional["):
        return kind is type(None) or _fits(type_name[len("Optional[") : -1], kind)
    if type_name.startswith("List["):
        # stride=2 means (2, 2)
        return issubclass(kind, list | tuple) or (kind is int and type_name == "List[int]")
    for class_, names in _ACCEPTED:
        if issubclass(kind, class_):
            return type_name in names
    return True
