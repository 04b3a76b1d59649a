"""Find the Python object that a dotted path names."""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import reprlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.common.class_facts import get_full_name
from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.code.user_code import failure, seeded, user_code

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["describe_object", "describe_object_at", "import_module", "list_submodules", "locate", "suggest_name"]


def locate(path: str) -> Any:
    """Import what is needed and return the object.

    Args:
        path: ``pkg.mod.Class`` or ``pkg.mod:attr``. As in Python, an attribute comes before a submodule of the same
            name; a colon says where the module ends.

    Returns:
        The object.

    Raises:
        TargetError: naming the first part of the path that does not exist, with a near name; or what the import raised.
    """
    module, colon, attributes = path.partition(":")
    first, names = (module, attributes.split(".")) if colon else (module.split(".")[0], module.split(".")[1:])
    if module.endswith(".py") or not all(part.isidentifier() for part in [*module.split("."), *names]):
        dotted = module.removesuffix(".py").strip("./").replace("/", ".") + colon + attributes
        hint = f"; did you mean {dotted!r}?" if ".py" in path else ""
        if "(" in path:
            called = path.partition("(")[0].strip()
            hint = f"; name {called!r} alone, and write its arguments with the options `args` and `kwargs`"
        raise TargetError(f"expected a dotted path such as `mypkg.Model` or `mypkg.mod:attr`, got {path!r}{hint}")
    found: Any = import_module(first, path)
    owner = first
    for name in names:
        found = _member(_shadowed(owner, found, name), owner, name, names[-1])
        owner = f"{owner}.{name}"
    return found


def _shadowed(path: str, found: Any, name: str) -> Any:
    """The module of this path, where a function of its package hides it that lacks what is asked for.

    ``torchvision.models.alexnet.alexnet`` is what an import of it gives, though Python's dots don't lead there.
    """
    module = sys.modules.get(path)
    is_hidden = inspect.isfunction(found) and module is not None and not hasattr(found, name)
    return module if is_hidden else found


def suggest_name(name: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """``; did you mean 'near'?``, or nothing if no known name is near."""
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=likeness)
    return f"; did you mean {near[0]!r}?" if near else ""


def describe_object(found: Any) -> str:
    """Describe an object that was not expected: ``the int 3``, ``an object of the class mypkg.Options``."""
    if isinstance(found, str | int | float | list | tuple | dict | None):
        return f"the {type(found).__name__} {reprlib.repr(found)}"
    return f"an object of the class {get_full_name(type(found))}"


def describe_object_at(path: str, found: Any) -> str:
    """Describe the object at a path, which is no model; of a Python module, list its models."""
    if not inspect.ismodule(found):
        return f"{path}, {describe_object(found)}"
    models = sorted(
        name
        for name, value in vars(found).items()
        if inspect.isclass(value)
        and issubclass(value, nn.Module)
        and not name.startswith("_")
        and (path.startswith("torch") or not value.__module__.startswith("torch."))
    )
    if len(models) > 1:
        named = ", ".join(f"{path}.{name}" for name in models[:_MOST_NAMED])
        return f"the module {path}; name one of its classes, such as {named}"
    return f"the module {path}" + (f"; did you mean {path}.{models[0]}?" if models else "")


def import_module(name: str, path: str = "") -> ModuleType:
    """Import a module.

    Args:
        name: Its absolute name.
        path: The dotted path for which it is needed, for a better hint.

    Raises:
        TargetError: naming the module that does not exist, or what the import raised.
    """
    try:
        with seeded():
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            # it exists, but something that it imports does not
            raise failure(f"importing {name!r}", error) from error
        parent = error.name.rpartition(".")[0]
        known = [f"{parent}.{near}".lstrip(".") for near in list_submodules(sys.modules.get(parent))]
        # a missing package is more often not installed than misspelt
        otherwise = _CLASS_ALONE if error.name == path and name[:1].isupper() else _MISSING_MODULE
        hint = suggest_name(error.name, {*known} - {error.name}, 0.85) or otherwise.format(name)
        raise TargetError(f"no module named {error.name!r}{hint}") from error
    except (Exception, SystemExit) as error:
        raise failure(f"importing {name!r}", error) from error


def _member(owner: Any, path: str, name: str, wanted: str) -> Any:
    """An attribute, or else a submodule; `wanted` is the last name of the path."""
    with user_code(f"reading '{path}.{name}'"):
        # one access only: lazy modules import on it
        found = getattr(owner, name, _MISSING)
    if found is not _MISSING:
        return found
    kind = "module" if isinstance(owner, ModuleType) else "object"
    submodules = list_submodules(owner) if isinstance(owner, ModuleType) else []
    if name in submodules:
        return import_module(f"{owner.__name__}.{name}")
    hint = suggest_name(name, {*dir(owner), *submodules})
    if not hint and name != wanted and wanted in dir(owner):
        hint = f"; did you mean '{path}.{wanted}'?"
    raise TargetError(f"{kind} {path!r} has no attribute {name!r}{hint}")


_MOST_NAMED = 4
"""Classes of a module in a message."""
_MISSING = object()
_MISSING_MODULE = "; install it, or add its folder to the import path"
_CLASS_ALONE = "; if it is a class, write its module, too, such as `mypkg.{0}`, or `mypkg.models.{0}`"


def list_submodules(package: ModuleType | None) -> list[str]:
    """Names of the modules directly inside a package; without one, of all importable modules."""
    path = getattr(package, "__path__", []) if package else None
    return [module.name for module in pkgutil.iter_modules(path)]
