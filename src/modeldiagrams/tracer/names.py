"""What names are bound to in classes and Python modules, read and written past their own ways of doing that."""

from __future__ import annotations

import random
import sys
import weakref
from collections import Counter, defaultdict
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import torch

from modeldiagrams.tracer.belongings import KINDS, LIBRARIES, home_of
from modeldiagrams.tracer.internals import CachedFunction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "CONTAINERS",
    "METHODS",
    "Watched",
    "bind",
    "holds_cache",
    "is_users",
    "loaded",
    "names_in",
    "python_module",
    "watched",
]

CONTAINERS = frozenset({*KINDS, Counter, defaultdict})
METHODS = (staticmethod, classmethod)
_HOLDERS = CONTAINERS | {torch.Generator, random.Random, torch.Tensor, torch.nn.Parameter}


class Watched(NamedTuple):
    """Names of a class or a Python module whose values are more than a name's affair."""

    holders: list[str]
    """Plain containers, generators of random numbers, tensors."""
    caches: list[str]
    """Functions that remember their results, or with such a one in their closure."""


_Found: TypeAlias = "tuple[weakref.ref[Any], int, Watched]"
_found: dict[int, _Found] = {}


def names_in(owner: type | ModuleType) -> Mapping[str, Any]:
    """What all names are bound to; lazy modules would load if they were asked."""
    names: Mapping[str, Any] = object.__getattribute__(owner, "__dict__")
    return names


def bind(owner: type | ModuleType, name: str, value: Any) -> None:
    """Bind a name."""
    (type if isinstance(owner, type) else ModuleType).__setattr__(owner, name, value)


def python_module(owner: Any) -> str:
    """The name of a Python module, or of that which defines a class."""
    return home_of(owner) if issubclass(type(owner), type) else str(names_in(owner).get("__name__"))


def loaded(names: Iterable[str]) -> list[ModuleType]:
    """The Python modules of these names; what else `sys.modules` holds is no module."""
    found: list[Any] = [sys.modules.get(name) for name in names]
    return [module for module in found if issubclass(type(module), ModuleType)]


def is_users(module: ModuleType) -> bool:
    """Whether a module is of no installed package: those remember costly things that are no tensors."""
    file = names_in(module).get("__file__") or ""
    return "/site-packages/" not in str(file) and python_module(module).partition(".")[0] not in LIBRARIES


def watched(owner: type | ModuleType) -> Watched:
    """What to look after. Classes and Python modules of installed packages are looked through once per process.

    Args:
        owner: A class or a Python module.
    """
    names = names_in(owner)
    known = _found.get(id(owner))
    if known is not None and known[1] == len(names) and known[0]() is owner:
        return known[2]
    numpy = sys.modules.get("numpy.random")
    kinds = _HOLDERS | ({numpy.Generator, numpy.RandomState} if numpy else set())
    found = Watched(
        [name for name, value in names.items() if type(value) in kinds and not name.startswith("__")],
        [name for name, value in names.items() if _remembers(value)],
    )
    if not any(map(is_users, loaded([python_module(owner)]))):
        _found[id(owner)] = (weakref.ref(owner), len(names), found)
    return found


def _remembers(value: Any) -> bool:
    kind = type(value)
    if kind in METHODS:
        value, kind = value.__func__, type(value.__func__)
    if kind is FunctionType and value.__closure__:
        return any(map(holds_cache, value.__closure__))
    return kind is CachedFunction


def holds_cache(cell: Any) -> bool:
    """Whether a cell of a closure holds a function that remembers its results."""
    try:
        return type(cell.cell_contents) is CachedFunction
    except ValueError:  # not filled yet
        return False
