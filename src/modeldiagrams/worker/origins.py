"""Finds the libraries of a model's classes, and shorter names to import them by."""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from modeldiagrams.common.class_facts import find_module, get_full_name, get_qualified_name, list_bases
from modeldiagrams.common.environment import list_distributions
from modeldiagrams.options.options import get_package

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

__all__ = ["find_public_name", "find_public_names", "has_case_variant", "list_libraries"]

_NONE = sys.stdlib_module_names | {"__main__", "torch", "modeldiagrams"}
"""Packages that are not distributions, or that every cache key contains."""


def list_libraries(classes: Iterable[type], named: Iterable[str], sources: Collection[str]) -> tuple[str, ...]:
    """Return the sorted names of distributions whose upgrade may change the graph.

    These are the distributions of the model's classes and their bases, and those from which the user's modules import.

    Args:
        classes: The classes of the model's modules.
        named: The author's dotted paths.
        sources: The user's files that the trace used.
    """
    modules = {find_module(base) for class_ in classes for base in list_bases(class_)}
    for module in list(sys.modules.values()):
        if type(module) is ModuleType and getattr(module, "__file__", None) in sources:
            modules.update(_list_imported(vars(module).values()))
    packages = {get_package(name) for name in (*modules, *named)}
    return list_distributions(packages - _NONE)


def find_public_names(classes: Iterable[type]) -> dict[str, tuple[str, ...]]:
    """Return shorter names of classes by full name, the most exact first.

    Packages document what they re-export, and ``pkg.Block`` may be another class than ``pkg.vision.Block``. The names
    of torch's layers are known.
    """
    own = [class_ for class_ in classes if get_package(find_module(class_)) != "torch"]
    names = {get_full_name(class_): tuple(_list_exports(class_)) for class_ in own}
    return {name: shorter for name, shorter in sorted(names.items()) if shorter}


def find_public_name(class_: type) -> str | None:
    """Return the shortest name of a class: in its own module, or in a package around it that exports it.

    Args:
        class_: The class of the model.

    Returns:
        The dotted path; None if no module has the class under its name.
    """
    outermost = class_.__qualname__.partition(".")[0]
    parts = class_.__module__.split(".")
    original = _find_member(parts, outermost)
    if original is None or "<locals>" in class_.__qualname__:
        return None
    depths = range(1, len(parts) + 1)
    depth = next(depth for depth in depths if _find_member(parts[:depth], outermost) is original)
    return ".".join([*parts[:depth], class_.__qualname__])


def has_case_variant(path: str) -> bool:
    """Whether ``pkg.NET`` exists in addition to the named object ``pkg.Net``.

    Some file systems can't have files of both names. Modules don't count, because they are not models.
    """
    parts = path.replace(":", ".").split(".")
    for depth in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:depth]))
        if module is not None:
            siblings = [name for name, value in list(vars(module).items()) if callable(value)]
            return any(name != parts[depth] and name.lower() == parts[depth].lower() for name in siblings)
    return False


def _list_imported(values: Iterable[Any]) -> Iterator[str]:
    """Yield the modules that a module's names come from, without running code of other objects."""
    for value in list(values):
        kind = type(value)
        if issubclass(kind, ModuleType):
            yield value.__name__
        elif issubclass(kind, type):
            yield find_module(value)
        elif issubclass(kind, FunctionType | BuiltinFunctionType):
            yield str(value.__module__)


def _list_exports(class_: type) -> Iterator[str]:
    name = get_qualified_name(class_)
    outermost = name.partition(".")[0]
    parts = find_module(class_).split(".")
    original = _is_defined(parts, outermost)
    for depth in range(len(parts) - 1, 0, -1):
        if original is not None and _is_defined(parts[:depth], outermost) is original:
            yield ".".join([*parts[:depth], name])


def _find_member(module: list[str], name: str) -> Any:
    """Like `_is_defined`, but let lazy packages import, so that the result doesn't depend on the order of requests."""
    try:
        return getattr(sys.modules.get(".".join(module)), name, None)
    except Exception:  # noqa: BLE001  (it runs code of the package)
        return None


def _is_defined(module: list[str], name: str) -> Any:
    """Return the object of a name in a loaded module; None in ``sys.modules`` forbids an import."""
    loaded = sys.modules.get(".".join(module))
    return vars(loaded).get(name) if loaded is not None else None
