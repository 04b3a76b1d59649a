"""Functions that remember their results (`functools.lru_cache`) remember nothing at the start of a trace.

Else a tensor made in an earlier pass would come from nowhere, and a fake one would stay behind for later passes.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.internals import classes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import nn

__all__ = ["fresh_caches"]

_METHODS = (staticmethod, classmethod)
_CachedFunction: Any = functools._lru_cache_wrapper  # noqa: SLF001 - its only name
_LIBRARIES = frozenset({"torch", *sys.stdlib_module_names})
_KINDS = frozenset({FunctionType, _CachedFunction, *_METHODS})


@contextlib.contextmanager
def fresh_caches(model: Any, modules: Sequence[tuple[str, nn.Module]]) -> Iterator[None]:
    """Put empty caches in place of those that a model's classes and their Python modules hold.

    Functions are found under their names, and inside the functions of decorators that wrap them once more.

    Args:
        model: The model.
        modules: All its modules, itself included; empty for a function.
    """
    fresh: dict[Any, Any] = {}

    def emptied(cached: Any) -> Any:
        if cached not in fresh:
            fresh[cached] = functools.lru_cache(**cached.cache_parameters())(cached.__wrapped__)
        return fresh[cached]

    with contextlib.ExitStack() as undo:
        for owner in _owners(model, modules):
            for name, value in list(vars(owner).items()):
                kind = type(value)
                if kind not in _KINDS or (kind is FunctionType and value.__closure__ is None):
                    continue
                function = value.__func__ if isinstance(value, _METHODS) else value
                if isinstance(function, _CachedFunction):
                    undo.callback(setattr, owner, name, value)
                    setattr(owner, name, emptied(function) if function is value else type(value)(emptied(function)))
                for cell in _cells_with_cache(function):
                    undo.callback(setattr, cell, "cell_contents", cell.cell_contents)
                    cell.cell_contents = emptied(cell.cell_contents)
        yield


def _owners(model: Any, modules: Sequence[tuple[str, nn.Module]]) -> list[type | ModuleType]:
    """The classes of a model's modules with their bases, the Python modules where these are written, and their helpers.

    Helpers are the user's own modules that those import, whole or a function of.
    """
    classes = [class_ for class_ in classes_of(modules or [("", model)]) if class_ is not object]
    names = dict.fromkeys([*(class_.__module__ for class_ in classes), getattr(model, "__module__", None)])
    own = [sys.modules[name] for name in names if name in sys.modules]
    helpers = {name for module in own if _is_users(module) for name in _imported(module)}.difference(names)
    loaded = [sys.modules[name] for name in sorted(helpers) if name in sys.modules]
    return [*classes, *own, *filter(_is_users, loaded)]


def _imported(module: ModuleType) -> set[str]:
    """Names of the modules that a module imports, whole or a function of."""
    values = list(vars(module).values())
    functions = {value.__module__ for value in values if isinstance(value, FunctionType)}
    return functions | {value.__name__ for value in values if isinstance(value, ModuleType)}


def _is_users(module: ModuleType) -> bool:
    """Whether a module is of no installed package: those remember costly things that are no tensors."""
    file = getattr(module, "__file__", None) or ""
    return "/site-packages/" not in file and module.__name__.partition(".")[0] not in _LIBRARIES


def _cells_with_cache(value: Any) -> list[Any]:
    closure = value.__closure__ if isinstance(value, FunctionType) else None
    return [cell for cell in closure or () if isinstance(_content(cell), _CachedFunction)]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None
