"""Finds the user's files that a model depends on, whose change may change its diagram.

A package usually imports all of its models. So not the loaded modules decide, but the imports of the model's own code.
"""

from __future__ import annotations

import ast
import functools
import sys
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.common.class_facts import find_module, list_bases
from modeldiagrams.common.user_files import is_user_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

__all__ = ["find_dependencies"]


class _Import(NamedTuple):
    """A name bound by an import statement."""

    module: str
    """The absolute name."""
    name: str | None
    """The name in that module; None for the module itself, or for all names."""
    bound: str | None
    """The name it is bound to; None for a star."""


def find_dependencies(classes: Iterable[type], named: Iterable[str], ran: Iterable[str]) -> tuple[str, ...]:
    """Find the user's files that a model depends on.

    These are the files that define its classes, those whose code ran, those that these import, and so on. In a
    package's ``__init__``, only imported names are followed, or else every model would depend on all others.

    Args:
        classes: The classes of the model's modules.
        named: The author's dotted paths.
        ran: Files whose code ran during the trace.

    Returns:
        Sorted absolute paths.
    """
    modules = {find_module(base) for class_ in classes for base in list_bases(class_)}
    names = {file: name for name, module in list(sys.modules.items()) if (file := _find_file(module))}
    pending: list[tuple[str, str | None]] = [(module, None) for module in modules]
    pending += [(names[file], None) for file in ran if file in names]
    pending += [_find_loaded(path.replace(":", ".")) for path in named if path]
    seen: set[tuple[str, str | None]] = set()
    found = {file for file in ran if is_user_file(file)}
    list_imports = functools.cache(_list_imports)  # a package is asked for many names
    while pending:
        item = pending.pop()
        if item in seen:
            continue
        seen.add(item)
        name, wanted = item
        parts = name.split(".")
        parents = (sys.modules.get(".".join(parts[:depth])) for depth in range(1, len(parts) + 1))
        files = [file for module in parents if (file := _find_file(module))]
        found.update(files)
        module = sys.modules.get(name)
        if module is not None and _find_file(module):
            pending += _follow(module, wanted, list_imports)
    return tuple(sorted(found))


def _follow(
    module: ModuleType, wanted: str | None, list_imports: Callable[..., list[_Import]]
) -> Iterator[tuple[str, str | None]]:
    """Yield the imports of a module; for a package, those of the wanted name."""
    imports = list_imports(str(_find_file(module)), module.__name__, is_package=hasattr(module, "__path__"))
    binding = [item for item in imports if item.bound in {wanted, None}]
    if wanted and hasattr(module, "__path__") and binding:
        imports = binding
    for item in imports:
        submodule = f"{item.module}.{item.name}"
        yield (submodule, None) if submodule in sys.modules else (item.module, item.name)


def _list_imports(file: str, name: str, *, is_package: bool) -> list[_Import]:
    """Return all import statements of a file, including those inside functions."""
    package = name if is_package else name.rpartition(".")[0]
    found: list[_Import] = []
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []  # Python imported it in another form, for example compiled
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [_Import(item.name, None, item.asname or item.name.partition(".")[0]) for item in node.names]
        elif isinstance(node, ast.ImportFrom):
            try:
                module = (
                    resolve_name("." * node.level + (node.module or ""), package) if node.level else str(node.module)
                )
            except ImportError:
                continue  # `from . import layers` outside a package: the statement did not run, or was caught
            names = [(None, None) if item.name == "*" else (item.name, item.asname or item.name) for item in node.names]
            found += [_Import(module, name, bound) for name, bound in names]
    return found


def _find_loaded(path: str) -> tuple[str, str | None]:
    """Return the longest loaded module at the start of a dotted path, and the next name."""
    parts = path.split(".")
    for depth in range(len(parts), 0, -1):
        name = ".".join(parts[:depth])
        if name in sys.modules:
            return name, parts[depth] if depth < len(parts) else None
    return path, None


def _find_file(module: object) -> str | None:
    """Return a module's file if it is the user's."""
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) and is_user_file(file) else None
