"""Classes and Python modules of a model, read and written past their own ways of doing that."""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from modeldiagrams.common.user_files import is_library
from modeldiagrams.tracer.restore.objects import LIBRARIES, defining_module
from modeldiagrams.tracer.torch_facts.private_api import classes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from torch import nn

__all__ = ["Namespace", "names_in", "namespaces_of"]

Namespace: TypeAlias = type | ModuleType


def namespaces_of(model: Any, modules: Sequence[tuple[str, nn.Module]]) -> list[Namespace]:
    """The classes of a model's modules with their bases, the Python modules that define these, and their helpers.

    Helpers are modules of the user's that those import, whole or a function of. Torch and the standard library are
    left out.
    """
    classes = [class_ for class_ in classes_of(modules or [("", model)]) if not _is_library(defining_module(class_))]
    names = dict.fromkeys([*map(defining_module, classes), str(getattr(model, "__module__", None))])
    own = [module for module in _loaded(names) if not _is_library(_name_of(module))]
    helpers = {name for module in own if _is_users(module) for name in _imported(module)}.difference(names)
    return [*classes, *own, *filter(_is_users, _loaded(sorted(helpers)))]


def names_in(namespace: Namespace) -> Mapping[str, Any]:
    """What all names are bound to; modules that load lazily stay unloaded."""
    names: Mapping[str, Any] = object.__getattribute__(namespace, "__dict__")
    return names


def _name_of(module: ModuleType) -> str:
    return str(names_in(module).get("__name__"))


def _is_library(python_module: str) -> bool:
    return python_module.partition(".")[0] in LIBRARIES


def _is_users(module: ModuleType) -> bool:
    """Whether a module is of no installed package: those cache costly things that are no tensors."""
    return not is_library(str(names_in(module).get("__file__"))) and not _is_library(_name_of(module))


def _loaded(names: Iterable[str]) -> list[ModuleType]:
    """The Python modules of these names; what else `sys.modules` holds is no module."""
    found: list[Any] = [sys.modules.get(name) for name in names]
    return [module for module in found if issubclass(type(module), ModuleType)]


def _imported(module: ModuleType) -> set[str]:
    values = list(names_in(module).values())
    functions = {str(value.__module__) for value in values if type(value) is FunctionType}
    return functions | {_name_of(value) for value in values if issubclass(type(value), ModuleType)}
