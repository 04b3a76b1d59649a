"""Decides whether a file is the user's, for call sites, tracebacks, crash reports and caches. Imports no torch."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["is_library", "is_model_code", "is_ours", "is_user_file", "list_library_folders", "list_src", "shorten_path"]

_INSTALLED = frozenset({"site-packages", "dist-packages"})
"""The names of folders of installed packages; an environment may also use those of the system and the user."""

_PACKAGE = str(Path(__file__).parents[1])

_ZIP = f"python{sys.version_info[0]}{sys.version_info[1]}.zip"
"""The archive that may contain Python's own modules."""


def list_src(folders: Sequence[Path]) -> list[Path]:
    """Return the ``src`` folders in folders, unless they are packages themselves."""
    found = [folder / "src" for folder in folders]
    return [folder for folder in found if folder.is_dir() and not (folder / "__init__.py").exists()]


def is_user_file(file: str) -> bool:
    """Whether a file is the user's: no library, and an absolute path, unlike made-up names (``_ops.py``)."""
    return not is_library(file) and PurePath(file).is_absolute()


def is_library(file: str, folders: Iterable[str] | None = None) -> bool:
    """Whether a file, or a folder of ``sys.path``, belongs to Python, an installed package, PyTorch or this package.

    Args:
        file: The path.
        folders: The `list_library_folders` of the process that ran the file, if it was another one.
    """
    return _is_library(file, list_library_folders() if folders is None else tuple(folders))


@functools.lru_cache(maxsize=16_384)
def _is_library(file: str, folders: tuple[str, ...]) -> bool:
    # cached by folder: thousands of modules are in hundreds of folders
    folder = file.rpartition(os.sep)[0]
    return bool(folder and _is_library_path(folder, folders)) or _is_library_path(file, folders)


@functools.lru_cache(maxsize=4096)
def _is_library_path(path: str, folders: tuple[str, ...]) -> bool:
    return is_ours(path) or _has_part(path, _INSTALLED | {_ZIP}) or _is_within(path, folders)


def is_ours(file: str) -> bool:
    """Whether a file belongs to this package, or to Python's import machinery, which runs whatever we import."""
    return file.startswith("<frozen ") or _is_within(file, [_PACKAGE])


@functools.lru_cache(maxsize=4096)
def is_model_code(file: str) -> bool:
    """Whether a file may contain model code: the user's, or that of an installed model (transformers).

    Code of PyTorch, Python and this package, and generated code, doesn't count.
    """
    if file.startswith("<") or _is_within(file, _list_tool_folders()):
        return False
    return _has_part(file, _INSTALLED) or not (_has_part(file, {_ZIP}) or _is_within(file, _list_python_folders()))


def list_library_folders() -> tuple[str, ...]:
    """Return the folders of Python, PyTorch and this package; installed packages are recognised by folder names."""
    return (*_list_python_folders(), *_list_tool_folders())


def shorten_path(file: str, module: str | None = None, roots: Iterable[str] = ()) -> str:
    """Return a file's path relative to its import root, so that messages and graphs don't show a machine's folders.

    Args:
        file: The absolute path.
        module: The module's dotted name, which determines the import root.
        roots: Folders to import from, for a file without a matching module; the innermost counts.

    Returns:
        For example ``transformers/models/bert/modeling_bert.py``; only the file name if the root is unknown.
    """
    path = PurePath(file)
    parts = module.split(".") if module else []
    if path.stem == "__init__":
        parts = [*parts, "__init__"]
    if module and path.with_suffix("").parts[-len(parts) :] == tuple(parts):
        return "/".join(path.parts[-len(parts) :])
    parents = [root for root in map(PurePath, roots) if root in path.parents]
    return path.relative_to(max(parents, key=lambda root: len(root.parts), default=path.parent)).as_posix()


@functools.cache
def _list_python_folders() -> tuple[str, ...]:
    return tuple(dict.fromkeys((sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))))


def _list_tool_folders() -> tuple[str, ...]:
    """Return the folders of this package and of PyTorch, if loaded, because it may be a checkout."""
    torch = getattr(sys.modules.get("torch"), "__file__", None)
    return (_PACKAGE, _folder(torch)) if torch else (_PACKAGE,)


@functools.cache  # called for every loaded module, and paths take long to parse
def _folder(file: str) -> str:
    return str(PurePath(file).parent)


def _is_within(file: str, folders: Iterable[str]) -> bool:
    return any(PurePath(file).is_relative_to(folder) for folder in folders)


def _has_part(file: str, names: Iterable[str]) -> bool:
    return not {part.lower() for part in PurePath(file).parts}.isdisjoint(names)
