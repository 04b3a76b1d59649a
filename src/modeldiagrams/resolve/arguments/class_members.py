"""Which class a wrapper was written for: the one that has the attributes that it reads of its argument."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.resolve.code.annotations import annotations_of, without_none
from modeldiagrams.resolve.code.forward import VARIADIC, parameters_of
from modeldiagrams.resolve.code.source import classes_written, names_beside, nodes_of, source_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["classes_around", "classes_beside", "constants_for", "items_read", "members_of", "members_read"]

_SET = re.compile(r"self\.(\w+)\s*(?=[,=:])|register_(?:buffer|parameter)\(\s*[\"'](\w+)")


def classes_beside(names: Mapping[str, Any], base: type) -> list[type]:
    """Classes in a module's globals that are no part of PyTorch."""
    return [
        value
        for value in names.values()
        if inspect.isclass(value)
        and issubclass(value, base)
        and not value.__module__.startswith("torch.")
        and "<" not in value.__qualname__
    ]


def classes_around(names: Mapping[str, Any], base: type) -> list[type]:
    """Those of a module, of the modules of its package that it imports from, and of the packages it is in."""
    module = str(names.get("__name__", ""))
    package = module.partition(".")[0]
    own = classes_beside(names, base)
    sources = [class_.__module__ for class_ in own if class_.__module__.partition(".")[0] == package]
    parents = [module.rsplit(".", count)[0] for count in range(1, module.count(".") + 1)]
    others = [sys.modules[name] for name in dict.fromkeys([*sources, *parents]) if name in sys.modules]
    return [*dict.fromkeys([*own, *(each for other in others for each in classes_beside(vars(other), base))])]


def constants_for(maker: Any) -> dict[str, Any]:
    """Required arguments for which the module of a class has something of the same name: ``SCHEMA`` for ``schema``.

    A number or a string may be anything; a list, a mapping, a configuration or a module is what it is called. A class
    is not, where the argument is annotated with it: then it is an instance.
    """
    names = names_beside(maker)
    by_word = {name.lower(): name for name, value in names.items() if _is_data(value)}
    wanted = [p.name for p in parameters_of(maker).values() if p.default is p.empty and p.kind not in VARIADIC]
    module, hints = getattr(maker, "__module__", ""), annotations_of(maker)
    found = {name: by_word[name.lower()] for name in wanted if name.lower() in by_word}
    others = {name: word for name, word in found.items() if without_none(hints.get(name)) is not names[word]}
    return {name: {"_object_": f"{module}.{word}"} for name, word in others.items()}


def _is_data(value: Any) -> bool:
    is_own_class = inspect.isclass(value) and not issubclass(value, nn.Module) and value.__module__ != "builtins"
    return is_own_class or isinstance(value, nn.Module) or (isinstance(value, list | dict | tuple) and bool(value))


def members_read(makers: tuple[Any, ...], name: str) -> set[str]:
    """Attributes that a class or function reads of one of its arguments, but for those that all modules have."""
    found = {member for maker in makers for member in _read_of(maker, name)}
    return {member for member in found if not hasattr(nn.Module, member)}


def items_read(makers: tuple[Any, ...], name: str) -> int:
    """How many items a class or function reads of what goes by a name: ``param[:4]``, ``param[5]``."""
    counts = [0]
    for maker in makers:
        for node in nodes_of(maker):
            match node:
                case ast.Subscript(value=ast.Name(id=owner) | ast.Attribute(attr=owner), slice=index) if owner == name:
                    counts += _reached(index)
    return max(counts)


def _reached(index: ast.expr) -> list[int]:
    match index:
        case ast.Constant(value=int() as at):
            return [at + 1]
        case ast.Slice(upper=ast.Constant(value=int() as end)):
            return [end]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as end)):
            return [end]
    return []


def _read_of(maker: Any, name: str) -> Iterator[str]:
    for node in nodes_of(maker):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=member) if owner == name:
                yield member
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=owner), attr=member):
                if owner == name:
                    yield member


@functools.cache
def members_of(class_: type) -> set[str]:
    """Attributes of a class and those that its methods set."""
    found = set(dir(class_))
    for owner in classes_written(class_):
        found |= {one or other for one, other in _SET.findall(source_of(owner))}
    return found
