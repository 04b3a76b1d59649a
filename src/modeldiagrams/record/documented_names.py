"""Which classes are recorded: those that the documentation names, in directives, lists, references or prose."""

from __future__ import annotations

import fnmatch
import functools
import importlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.common.class_facts import find_module, get_full_name, get_qualified_name
from modeldiagrams.common.user_files import is_user_file
from modeldiagrams.options.options import get_package

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.record.run import RunSettings

__all__ = ["wanted_classes"]

_TEXTS = frozenset({".rst", ".md", ".txt", ".ipynb", ".py", ".yml"})
_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)+")
_MEMBERS = re.compile(r"(?:(?:auto|current|py:)?module::|^\s*:::)\s*([\w.]+)", re.MULTILINE)
"""A Python module that a page documents, or whose members it names without their module."""


def wanted_classes(settings: RunSettings) -> Callable[[type], bool]:
    """What tells whether a class is recorded."""
    if settings.only:
        pattern = re.compile("|".join(map(fnmatch.translate, settings.only)))
        return lambda class_: pattern.match(get_full_name(class_)) is not None
    if settings.all_classes:
        return _is_of_project
    paths, modules = set[str](), set[str]()
    for text in _texts(Path(settings.folder)):
        paths.update(_PATH.findall(text))
        modules.update(_MEMBERS.findall(text))
    by_name: dict[str, list[str]] = {}
    for path in sorted(paths):
        by_name.setdefault(re.split("[.:]", path)[-1], []).append(path.replace(":", "."))
    return functools.partial(_is_named, by_name, sorted(modules))


def _is_of_project(class_: type) -> bool:
    """Whether a class is the user's own, and not of an installed library."""
    file = getattr(sys.modules.get(find_module(class_)), "__file__", None)
    return isinstance(file, str) and is_user_file(file)


def _texts(folder: Path) -> Iterator[str]:
    for file in sorted(folder.rglob("*")):
        parts = file.relative_to(folder).parts
        if file.suffix in _TEXTS and file.is_file() and not any(part.startswith(("_build", ".")) for part in parts):
            yield file.read_text("utf-8", "replace")


def _is_named(by_name: dict[str, list[str]], modules: list[str], class_: type) -> bool:
    name, package = get_qualified_name(class_), get_package(find_module(class_))
    paths = [path for path in by_name.get(name.rpartition(".")[2], ()) if get_package(path) == package]
    if any(_found(path.removesuffix(f".{name}"), name) is class_ for path in paths):
        return True
    loaded = (sys.modules.get(module) for module in modules if get_package(module) == package)
    return any(getattr(module, "__dict__", {}).get(name) is class_ for module in loaded)


def _found(module: str, name: str) -> Any:
    """What a module has under a name, after its import."""
    try:
        return functools.reduce(getattr, name.split("."), importlib.import_module(module))
    except Exception:  # noqa: BLE001  (whatever an import raises)
        return None
