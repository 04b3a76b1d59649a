"""Which classes a documentation names: in directives, fences, lists of members, references and prose."""

from __future__ import annotations

import fnmatch
import functools
import importlib
import re
import sys
from typing import TYPE_CHECKING, Any

from modeldiagrams.common.class_facts import find_module, get_full_name, get_qualified_name
from modeldiagrams.common.user_files import is_user_file
from modeldiagrams.options.options import get_package

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

__all__ = ["is_documented", "is_of_project", "matches"]

_TEXTS = frozenset({".rst", ".md", ".txt", ".ipynb", ".py", ".yml"})
_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)+")
_MEMBERS = re.compile(r"(?:(?:auto|current|py:)?module::|^\s*:::)\s*([\w.]+)", re.MULTILINE)
"""A Python module that a page documents, or whose members it names without their module."""


def matches(patterns: Iterable[str]) -> Callable[[type], bool]:
    """What tells whether the full name of a class matches one of some patterns, ``mypkg.models.*``."""
    compiled = re.compile("|".join(map(fnmatch.translate, patterns)))
    return lambda class_: compiled.match(get_full_name(class_)) is not None


def is_of_project(class_: type) -> bool:
    """Whether a class is the user's own, and not of an installed library."""
    file = getattr(sys.modules.get(find_module(class_)), "__file__", None)
    return isinstance(file, str) and is_user_file(file)


def is_documented(folder: Path) -> Callable[[type], bool]:
    """What tells whether a documentation names a class.

    Args:
        folder: Of ``conf.py`` or ``mkdocs.yml``.
    """
    paths, modules = set[str](), set[str]()
    for text in _texts(folder):
        paths.update(_PATH.findall(text))
        modules.update(_MEMBERS.findall(text))
    by_name: dict[str, list[str]] = {}
    for path in sorted(paths):
        by_name.setdefault(re.split("[.:]", path)[-1], []).append(path)
    return functools.partial(_is_named, by_name, sorted(modules))


def _texts(folder: Path) -> Iterator[str]:
    for file in sorted(folder.rglob("*")):
        parts = file.relative_to(folder).parts
        if file.suffix in _TEXTS and file.is_file() and not any(part.startswith(("_build", ".")) for part in parts):
            yield file.read_text("utf-8", "replace")


def _is_named(by_name: dict[str, list[str]], modules: list[str], class_: type) -> bool:
    name, package = get_qualified_name(class_), get_package(find_module(class_))
    paths = [path for path in by_name.get(name.rpartition(".")[2], ()) if get_package(path) == package]
    if any(_found(path.replace(":", "."), name) is class_ for path in paths):
        return True
    loaded = (sys.modules.get(module) for module in modules if get_package(module) == package)
    return any(getattr(module, "__dict__", {}).get(name) is class_ for module in loaded)


def _found(path: str, name: str) -> Any:
    """The object of a path; a class inside of a class has several names."""
    module = path.removesuffix(f".{name}")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception:  # noqa: BLE001  (what an import raises)
        return None
    return found
