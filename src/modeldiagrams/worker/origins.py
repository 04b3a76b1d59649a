"""What a model is made of that is not the user's own: the libraries in it, and the names its classes go by.

Both need the live classes, so the tracing process finds them, and they are kept beside the graph.
"""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from modeldiagrams.installed import distributions_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from torch import nn

__all__ = ["has_twin", "libraries", "public_names"]

_NONE = sys.stdlib_module_names | {"__main__", "torch", "modeldiagrams"}
"""Packages that are no distributions, or are in every cache key."""


def libraries(model: nn.Module, named: Iterable[str], sources: Collection[str]) -> tuple[str, ...]:
    """Names of the distributions whose upgrade may change the graph, sorted.

    They are those of the model's classes and of all that these inherit from, and those that the user's own modules have
    imported from.

    Args:
        model: The model.
        named: Dotted paths that the author wrote.
        sources: The user's files that the trace used.
    """
    modules = {base.__module__ for class_ in _classes(model) for base in class_.__mro__}
    for module in list(sys.modules.values()):
        if type(module) is ModuleType and getattr(module, "__file__", None) in sources:
            modules.update(_imported(vars(module).values()))
    packages = {name.partition(".")[0] for name in (*modules, *(path.partition(":")[0] for path in named))}
    return distributions_of(packages - _NONE)


def public_names(model: nn.Module) -> dict[str, tuple[str, ...]]:
    """Fully qualified class name → shorter ones that the very same class can be imported by, most exact first.

    Packages document what they re-export. That a name looks right is not enough: ``pkg.Block`` may be another class
    than ``pkg.vision.Block``. Torch's own layers need none: theirs are known, and are most of every model.
    """
    classes = [class_ for class_ in _classes(model) if class_.__module__.partition(".")[0] != "torch"]
    names = {f"{class_.__module__}.{class_.__qualname__}": tuple(_exports(class_)) for class_ in classes}
    return {name: shorter for name, shorter in sorted(names.items()) if shorter}


def has_twin(path: str) -> bool:
    """Whether what a dotted path names, ``pkg.Net``, lies beside something of the same letters, ``pkg.NET``.

    Some disks don't tell files of such names. Modules don't count, for they are no models.
    """
    parts = path.replace(":", ".").split(".")
    for depth in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:depth]))
        if module is not None:
            beside = [name for name, value in list(vars(module).items()) if callable(value)]
            return any(name != parts[depth] and name.lower() == parts[depth].lower() for name in beside)
    return False


def _classes(model: nn.Module) -> set[type]:
    return {type(module) for module in model.modules()}


def _imported(values: Iterable[Any]) -> Iterator[str]:
    """Modules that a module's names come from. No attribute of anything but modules, classes and functions is read."""
    for value in list(values):
        kind = type(value)
        if issubclass(kind, ModuleType):
            yield value.__name__
        elif issubclass(kind, type | FunctionType | BuiltinFunctionType):
            yield str(getattr(value, "__module__", None))


def _exports(class_: type) -> Iterator[str]:
    outermost = class_.__qualname__.partition(".")[0]
    parts = class_.__module__.split(".")
    holder = _defined(parts, outermost)
    for depth in range(len(parts) - 1, 0, -1):
        if holder is not None and _defined(parts[:depth], outermost) is holder:
            yield ".".join([*parts[:depth], class_.__qualname__])


def _defined(module: list[str], name: str) -> Any:
    """What a loaded module holds under a name; nothing that would have to be loaded first."""
    return vars(sys.modules[".".join(module)]).get(name) if ".".join(module) in sys.modules else None
