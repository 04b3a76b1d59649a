"""Facts about a model's classes beside the graph: their libraries, and shorter names to import them by."""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from modeldiagrams.common.class_facts import bases_of, full_name, module_of, qualified_name
from modeldiagrams.common.environment import distributions_of
from modeldiagrams.options.options import package_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

__all__ = ["has_case_variant", "libraries", "public_name", "public_names"]

_NONE = sys.stdlib_module_names | {"__main__", "torch", "modeldiagrams"}
"""Packages that are no distributions, or that every cache key contains."""


def libraries(classes: Iterable[type], named: Iterable[str], sources: Collection[str]) -> tuple[str, ...]:
    """Names of the distributions whose upgrade may change the graph, sorted.

    They are those of the model's classes and of all that these inherit from, and those that the user's own modules have
    imported from.

    Args:
        classes: Those of the model's modules.
        named: Dotted paths that the author wrote.
        sources: The user's files that the trace used.
    """
    modules = {module_of(base) for class_ in classes for base in bases_of(class_)}
    for module in list(sys.modules.values()):
        if type(module) is ModuleType and getattr(module, "__file__", None) in sources:
            modules.update(_imported(vars(module).values()))
    packages = {package_of(name) for name in (*modules, *named)}
    return distributions_of(packages - _NONE)


def public_names(classes: Iterable[type]) -> dict[str, tuple[str, ...]]:
    """Fully qualified class name → shorter names of the same class, most exact first.

    Packages document what they re-export, and ``pkg.Block`` may be another class than ``pkg.vision.Block``. Those of
    torch's layers are known.
    """
    own = [class_ for class_ in classes if package_of(module_of(class_)) != "torch"]
    names = {full_name(class_): tuple(_exports(class_)) for class_ in own}
    return {name: shorter for name, shorter in sorted(names.items()) if shorter}


def public_name(class_: type) -> str | None:
    """The shortest name of a class: that of its own module, or of a package around it that exports the class.

    Args:
        class_: The model's.

    Returns:
        The dotted path; None for a class that no module holds under its name.
    """
    outermost = class_.__qualname__.partition(".")[0]
    parts = class_.__module__.split(".")
    original = _member(parts, outermost)
    if original is None or "<locals>" in class_.__qualname__:
        return None
    depths = range(1, len(parts) + 1)
    depth = next(depth for depth in depths if _member(parts[:depth], outermost) is original)
    return ".".join([*parts[:depth], class_.__qualname__])


def has_case_variant(path: str) -> bool:
    """Whether ``pkg.NET`` exists beside the object that a dotted path names, ``pkg.Net``.

    Some file systems can't keep files of both names. Modules don't count, for they are no models.
    """
    parts = path.replace(":", ".").split(".")
    for depth in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:depth]))
        if module is not None:
            siblings = [name for name, value in list(vars(module).items()) if callable(value)]
            return any(name != parts[depth] and name.lower() == parts[depth].lower() for name in siblings)
    return False


def _imported(values: Iterable[Any]) -> Iterator[str]:
    """Modules that a module's names come from. Runs no code of other objects."""
    for value in list(values):
        kind = type(value)
        if issubclass(kind, ModuleType):
            yield value.__name__
        elif issubclass(kind, type):
            yield module_of(value)
        elif issubclass(kind, FunctionType | BuiltinFunctionType):
            yield str(value.__module__)


def _exports(class_: type) -> Iterator[str]:
    name = qualified_name(class_)
    outermost = name.partition(".")[0]
    parts = module_of(class_).split(".")
    original = _defined(parts, outermost)
    for depth in range(len(parts) - 1, 0, -1):
        if original is not None and _defined(parts[:depth], outermost) is original:
            yield ".".join([*parts[:depth], name])


def _member(module: list[str], name: str) -> Any:
    """Like `_defined`, but lazy packages import what is asked for: or else the order of requests would decide."""
    try:
        return getattr(sys.modules.get(".".join(module)), name, None)
    except Exception:  # noqa: BLE001  (it runs code of the package)
        return None


def _defined(module: list[str], name: str) -> Any:
    """The object of a name in a module, if the module is loaded; None among the loaded ones forbids an import."""
    loaded = sys.modules.get(".".join(module))
    return vars(loaded).get(name) if loaded is not None else None
