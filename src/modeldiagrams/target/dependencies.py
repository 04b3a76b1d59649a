"""Which of the user's files a model is made of: those whose change may change its diagram, and no others.

A process that serves many models has loaded files of all of them, and a package usually imports every model it has. So
what is loaded says little; what counts is which modules the model's own code imports, and from where.
"""

from __future__ import annotations

import ast
import functools
import sys
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.target.usercode import is_user_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from torch import nn

__all__ = ["dependencies"]


class _Import(NamedTuple):
    """One name that an import statement binds."""

    module: str
    """Absolute."""
    name: str | None
    """What of it; None for the module itself, or all."""
    bound: str | None
    """What it is called here; None for a star."""


def dependencies(model: nn.Module, named: Iterable[str], ran: Iterable[str]) -> tuple[str, ...]:
    """The user's own files that a model depends on.

    They are those that define its classes, those whose code ran, those that these import, and so on. A package's
    ``__init__`` is followed only to the names that are taken from it, or else every model would depend on all others.

    Args:
        model: The model.
        named: Dotted paths that the author wrote.
        ran: Files whose code the trace has seen.

    Returns:
        Absolute paths, sorted.
    """
    modules = {base.__module__ for part in model.modules() for base in type(part).__mro__}
    names = {file: name for name, module in list(sys.modules.items()) if (file := _file(module))}
    waiting: list[tuple[str, str | None]] = [(module, None) for module in modules]
    waiting += [(names[file], None) for file in ran if file in names]
    waiting += [_loaded_part(path.replace(":", ".")) for path in named if path]
    seen: set[tuple[str, str | None]] = set()
    found = {file for file in ran if is_user_file(file)}
    while waiting:
        item = waiting.pop()
        if item in seen:
            continue
        seen.add(item)
        name, wanted = item
        parts = name.split(".")
        holders = (sys.modules.get(".".join(parts[:depth])) for depth in range(1, len(parts) + 1))
        files = [file for module in holders if (file := _file(module))]
        found.update(files)
        module = sys.modules.get(name)
        if module is not None and _file(module):
            waiting += _followed(module, wanted)
    return tuple(sorted(found))


def _followed(module: ModuleType, wanted: str | None) -> Iterator[tuple[str, str | None]]:
    """What a module imports; of a package, what it imports the wanted name from."""
    imports = _imports(str(_file(module)), module.__name__, is_package=hasattr(module, "__path__"))
    binding = [item for item in imports if item.bound in {wanted, None}]
    if wanted and hasattr(module, "__path__") and binding:
        imports = binding
    for item in imports:
        submodule = f"{item.module}.{item.name}"
        yield (submodule, None) if submodule in sys.modules else (item.module, item.name)


def _imports(file: str, name: str, *, is_package: bool) -> list[_Import]:
    try:
        status = Path(file).stat()
    except OSError:
        return []
    return _read(file, (status.st_mtime_ns, status.st_size), name, is_package)


@functools.lru_cache(maxsize=1024)
def _read(file: str, _stamp: tuple[int, int], own_name: str, is_package: bool) -> list[_Import]:  # noqa: FBT001  (a key)
    """Every import statement of a file, also those inside functions."""
    package = own_name if is_package else own_name.rpartition(".")[0]
    found: list[_Import] = []
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []  # Python has read it; what it reads otherwise than we do is not ours to tell
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [_Import(item.name, None, item.asname or item.name.partition(".")[0]) for item in node.names]
        elif isinstance(node, ast.ImportFrom):
            try:
                module = (
                    resolve_name("." * node.level + (node.module or ""), package) if node.level else str(node.module)
                )
            except ImportError:
                continue  # `from . import layers` outside of a package: the statement did not run, or was caught
            names = [(None, None) if item.name == "*" else (item.name, item.asname or item.name) for item in node.names]
            found += [_Import(module, name, bound) for name, bound in names]
    return found


def _loaded_part(path: str) -> tuple[str, str | None]:
    """The longest loaded module that a dotted path begins with, and the name in it that follows."""
    parts = path.split(".")
    for depth in range(len(parts), 0, -1):
        name = ".".join(parts[:depth])
        if name in sys.modules:
            return name, parts[depth] if depth < len(parts) else None
    return path, None


def _file(module: object) -> str | None:
    """A module's file, if it is the user's own."""
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) and is_user_file(file) else None
