"""Keeps one pass from what another left in functions that cache their results, and in global variables.

A tensor cached in an earlier pass would come from nowhere, and a fake one would break later passes. Where to look are
namespaces: classes and Python modules, read and written past their own ways of doing that.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from torch._subclasses.fake_tensor import FakeTensor

from modeldiagrams.common.class_facts import find_module
from modeldiagrams.common.user_files import is_library
from modeldiagrams.tracer.restore.object_snapshot import LIBRARIES, attempt
from modeldiagrams.tracer.torch_facts.private_api import CachedFunction, classes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from torch import nn

Namespace: TypeAlias = type | ModuleType

_METHODS = (staticmethod, classmethod)
_DICTS = (dict, OrderedDict, defaultdict, Counter)
_CONTAINERS = frozenset({*_DICTS, list, deque, set, tuple})
_MAX_DEPTH = 4


def namespaces_of(model: Any, modules: Sequence[tuple[str, nn.Module]]) -> list[Namespace]:
    """The classes of a model's modules with their bases, the Python modules that define these, and their helpers.

    Helpers are modules of the user's that those import, whole or a function of. Torch and the standard library are
    left out.
    """
    classes = [class_ for class_ in classes_of(modules or [("", model)]) if not _is_library(find_module(class_))]
    names = dict.fromkeys([*map(find_module, classes), str(getattr(model, "__module__", None))])
    own = [module for module in _loaded(names) if not _is_library(_name_of(module))]
    helpers = {name for module in own if _is_users(module) for name in _imported(module)}.difference(names)
    return [*classes, *own, *filter(_is_users, _loaded(sorted(helpers)))]


def empty_caches(namespaces: Sequence[Namespace]) -> Iterator[tuple[Any, str, Any]]:
    """Replacements of functions with `functools.lru_cache` by the same ones with empty caches.

    They are found under their names, and in the closures of decorators that wrap them once more.
    """
    empty: dict[Any, Any] = {}

    def emptied(cached: Any) -> Any:
        if cached not in empty:
            empty[cached] = functools.lru_cache(**cached.cache_parameters())(cached.__wrapped__)
        return empty[cached]

    for namespace in namespaces:
        for name, value in list(_names_in(namespace).items()):
            function = value.__func__ if type(value) in _METHODS else value
            if type(function) is CachedFunction:
                yield namespace, name, emptied(function) if function is value else type(value)(emptied(function))
            elif type(function) is FunctionType and function.__closure__:
                for cell in filter(_holds_cache, function.__closure__):
                    if cell.cell_contents not in empty.values():
                        yield cell, "cell_contents", emptied(cell.cell_contents)


@contextlib.contextmanager
def fakes_removed(namespaces: Sequence[Namespace]) -> Iterator[None]:
    """Remove, at the end, fake tensors from what names are bound to, and bind these as before."""
    before = [(namespace, dict(_names_in(namespace))) for namespace in namespaces]
    try:
        yield
    finally:
        for namespace, names in before:
            for name, value in list(_names_in(namespace).items()):
                if name in names and value is names[name]:
                    _remove_fakes(value)
                elif _holds_fakes(value) and name in names:
                    attempt(setattr, namespace, name, names[name])
                elif _holds_fakes(value):
                    attempt(delattr, namespace, name)


def _names_in(namespace: Namespace) -> Mapping[str, Any]:
    """What all names are bound to; modules that load lazily stay unloaded."""
    names: Mapping[str, Any] = object.__getattribute__(namespace, "__dict__")
    return names


def _name_of(module: ModuleType) -> str:
    return str(_names_in(module).get("__name__"))


def _is_library(python_module: str) -> bool:
    return python_module.partition(".")[0] in LIBRARIES


def _is_users(module: ModuleType) -> bool:
    """Whether a module is of no installed package: those cache costly things that are no tensors."""
    return not is_library(str(_names_in(module).get("__file__"))) and not _is_library(_name_of(module))


def _loaded(names: Iterable[str]) -> list[ModuleType]:
    """The Python modules of these names; what else `sys.modules` holds is no module."""
    found: list[Any] = [sys.modules.get(name) for name in names]
    return [module for module in found if issubclass(type(module), ModuleType)]


def _imported(module: ModuleType) -> set[str]:
    values = list(_names_in(module).values())
    functions = {str(value.__module__) for value in values if type(value) is FunctionType}
    return functions | {_name_of(value) for value in values if issubclass(type(value), ModuleType)}


def _holds_cache(cell: Any) -> bool:
    try:
        return type(cell.cell_contents) is CachedFunction
    except ValueError:  # not filled yet
        return False


def _holds_fakes(value: Any, depth: int = 0) -> bool:
    if isinstance(value, FakeTensor):
        return True
    if type(value) not in _CONTAINERS or depth > _MAX_DEPTH:
        return False
    return any(_holds_fakes(item, depth + 1) for item in (value.values() if isinstance(value, dict) else value))


def _remove_fakes(container: Any) -> None:
    """Take what holds fakes out of a container that was there before."""
    if type(container) in _DICTS:
        for key in [key for key, value in container.items() if _holds_fakes(value)]:
            del container[key]
    elif type(container) in (list, deque, set) and _holds_fakes(container):
        kept = [value for value in container if not _holds_fakes(value)]
        container.clear()
        container.update(kept) if isinstance(container, set) else container.extend(kept)
