"""Looks up what names and attributes in a function's source stand for, without running code of the model."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from modeldiagrams.common.user_files import is_model_code

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Kind: TypeAlias = Literal[
    "tensor", "tensors", "module", "module class", "torch function", "function", "none", "plain", "unknown"
]
"""What a value is: ``tensors`` is a container of them, ``function`` one of the model's code; ``plain`` runs nothing."""

MISSING: Any = object()
_HELD = ("_modules", "_parameters", "_buffers")
"""Where modules keep attributes."""


@dataclass(frozen=True)
class Scope:
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
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            base = self.value(node.value)
            if type(base) in {tuple, list, dict}:
                try:
                    return base[node.slice.value]
                except (LookupError, TypeError):
                    return MISSING
        return MISSING

    def kind_of(self, value: Any) -> Kind:
        """What kind of value it is."""
        if value is MISSING:
            return "unknown"
        if value is None:
            return "none"
        known = self.classify(value)
        if known is not None:
            return known
        if isinstance(value, tuple | list | dict):
            held = list(value.values() if isinstance(value, dict) else value)[:8]
            kinds = {self.classify(item) for item in held}
            return "module" if "module" in kinds else "tensors" if kinds & {"tensor"} else "plain"
        code = getattr(plain_function(value), "__code__", None)
        return "function" if code is not None and is_model_code(code.co_filename) else "plain"


def plain_function(value: Any) -> Any:
    """The Python function behind a method, a decorator that keeps its function, or a `functools.partial`."""
    for _ in range(8):
        if isinstance(value, functools.partial):
            value = value.func
        elif isinstance(value, MethodType | staticmethod | classmethod):
            value = value.__func__
        elif isinstance(inner := getattr(value, "__dict__", {}).get("__wrapped__"), FunctionType | MethodType):
            value = inner
        else:
            break
    return value if isinstance(value, FunctionType | BuiltinFunctionType) else None


def read_attribute(owner: Any, name: str) -> Any:
    """Read an attribute unless code of the model would run for it, as for properties."""
    held = getattr(owner, "__dict__", None)
    for key in _HELD if isinstance(held, dict) else ():
        if isinstance(inner := held.get(key), dict) and name in inner:  # type: ignore[union-attr]
            return inner[name]
    if isinstance(owner, ModuleType):
        return vars(owner).get(name, MISSING)
    found = inspect.getattr_static(owner, name, MISSING)
    if isinstance(found, MemberDescriptorType):
        return object.__getattribute__(owner, name) if not isinstance(owner, type) else MISSING
    is_computed = hasattr(type(found), "__get__") and not callable(found) and not isinstance(found, _METHODS)
    return MISSING if is_computed else found


_METHODS = (staticmethod, classmethod)
