"""Looks up what names and attributes in a function's source stand for, without running code of the model."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import itertools
from dataclasses import dataclass
from types import (
    BuiltinFunctionType,
    FunctionType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from modeldiagrams.common.user_files import is_model_code

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Kind: TypeAlias = Literal[
    "tensor", "tensors", "module", "module class", "torch function", "function", "none", "plain", "unknown"
]
"""What a value is: ``tensors`` is a container of them, ``function`` one of the model's code; ``plain`` runs nothing."""

MISSING: Any = object()
_MOST_ITEMS = 8
"""Items of a container to look at."""
_CONTAINERS: dict[type, Any] = {tuple: tuple.__iter__, list: list.__iter__, dict: dict.values}
"""How to read containers, also of classes that read themselves in another way."""
_SIMPLE = frozenset({bool, int, float, complex, str, bytes})
_HELD = ("_modules", "_parameters", "_buffers")
"""Where modules keep attributes."""


@dataclass(frozen=True)
class NameScope:
    """The variables of a function at one moment, and what torch says about values."""

    variables: Mapping[str, Any]
    globals: Mapping[str, Any]
    arguments: tuple[str, ...]
    classify: Callable[[Any], Kind | None]
    """Tells tensors, modules, their classes and torch's functions from other values (None)."""
    annotations: Mapping[str, str]
    """Parameter → its annotation as written."""

    def value(self, node: ast.AST) -> Any:
        """What an expression stands for; `MISSING` if that is not known without running anything."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            for names in (self.variables, self.globals, vars(builtins)):
                if node.id in names:
                    return names[node.id]
        elif isinstance(node, ast.Attribute):
            base = self.value(node.value)
            return MISSING if base is MISSING or self.classify(base) == "tensor" else read_attribute(base, node.attr)
        elif isinstance(node, ast.Subscript):
            return self._item(self.value(node.value), node.slice)
        return MISSING

    def _item(self, owner: Any, index: ast.AST) -> Any:
        """An item of a container, the first for an index that is not written out: items are of a kind."""
        if type(held := _own_attributes(owner).get("_modules")) is dict:
            owner = held
        if type(owner) not in {tuple, list, dict}:
            return MISSING
        try:
            if isinstance(index, ast.Constant):
                return owner[index.value]
            return next(iter(owner.values() if type(owner) is dict else owner), MISSING)
        except (LookupError, TypeError):
            return MISSING

    def kind_of(self, value: Any) -> Kind:
        """What kind of value it is."""
        if value is MISSING:
            return "unknown"
        if value is None:
            return "none"
        if type(value) in _SIMPLE:
            return "plain"
        known = self.classify(value)
        if known is not None:
            return known
        read = next((read for class_, read in _CONTAINERS.items() if issubclass(type(value), class_)), None)
        if read is not None:
            kinds = {self.classify(item) for item in itertools.islice(read(value), _MOST_ITEMS)}
            return "module" if "module" in kinds else "tensors" if "tensor" in kinds else "plain"
        code = getattr(plain_function(value), "__code__", None)
        return "function" if code is not None and is_model_code(code.co_filename) else "plain"


def plain_function(value: Any) -> Any:
    """The Python function behind a method, a decorator that keeps its function, or a `functools.partial`; or None."""
    for _ in range(8):
        class_ = type(value)
        if class_ is functools.partial:
            value = value.func
        elif class_ in {MethodType, staticmethod, classmethod}:
            value = value.__func__
        elif type(inner := _own_attributes(value).get("__wrapped__")) in {FunctionType, MethodType}:
            value = inner
        else:
            break
    return value if type(value) is FunctionType else None


def read_attribute(owner: Any, name: str) -> Any:
    """Read an attribute unless code of the model would run for it, as for properties."""
    held = _own_attributes(owner)
    if issubclass(type(owner), ModuleType):
        return held.get(name, MISSING)
    for key in _HELD:
        if type(inner := held.get(key)) is dict and name in inner:
            return inner[name]
    found = inspect.getattr_static(owner, name, MISSING)
    if type(found) is MemberDescriptorType:
        return MISSING if issubclass(type(owner), type) else object.__getattribute__(owner, name)
    is_computed = hasattr(type(found), "__get__") and type(found) not in _METHODS
    return MISSING if is_computed else found


_METHODS = (staticmethod, classmethod, FunctionType, BuiltinFunctionType, MethodDescriptorType, type)


def _own_attributes(owner: Any) -> Any:
    try:
        return object.__getattribute__(owner, "__dict__")
    except AttributeError:  # of an object with slots
        return {}
