"""Finds out what is installed without importing it; this and the sources decide whether a cached graph is valid."""

from __future__ import annotations

import functools
import itertools
import os
import re
import sys
from importlib import metadata
from pathlib import Path
from platform import python_version_tuple
from typing import TYPE_CHECKING

from modeldiagrams.common.files import digest
from modeldiagrams.common.user_files import is_library
from modeldiagrams.common.version import read_version

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

__all__ = ["digest_importable_names", "has_torch", "list_distributions", "list_versions", "made_with"]

_PACKAGE = Path(__file__).parents[1]
_IMPORTED = frozenset({".py", ".so", ".pyd", ".pth", ".dist-info", ".egg-info"})
_NAME = re.compile(r"(\w+)(?:\.|$)")
_VERSION = re.compile(r"^Version: *(.*?)\s*$", re.MULTILINE)
_MOST_ENTRIES = 1000
"""The maximum number of folder entries to check; a folder of data may have millions."""
_CODE = (".py", ".yaml", ".toml")
_TRACER_CODE = ("common", "errors.py", "ir", "options", "resolve", "tracer", "worker")
"""The code that determines a graph; in a development checkout, it changes without a new version."""


def made_with(libraries: Iterable[str] = (), python: str | None = None) -> tuple[str, ...]:
    """Return the versions of everything a graph depends on, except the user's sources.

    Args:
        libraries: Names of the distributions that the model uses, except torch.
        python: The interpreter that runs the model; None for the current one.

    Returns:
        A digest of our own code, and the versions of this package, Python, torch and the libraries.
    """
    found = list_versions(["torch", *sorted(libraries)], python)
    return (_digest_own_code(), read_version(), *python_version_tuple()[:2], *found.values())


def list_versions(distributions: Iterable[str], python: str | None = None) -> dict[str, str]:
    """Return the version of each distribution; empty if it is not installed."""
    path = tuple(_search_path(python))
    return {name: _get_version(name, path) for name in distributions}


def has_torch() -> bool:
    """Whether torch is installed here."""
    return bool(list_versions(["torch"])["torch"])


def list_distributions(packages: Collection[str]) -> tuple[str, ...]:
    """Return the names of the distributions that contain some packages: `sklearn` belongs to `scikit-learn`.

    This reads the file lists of everything installed, so only the worker calls it.
    """
    found = (item for folder in sys.path for item in _list_distributions(folder, _get_modified(folder)))
    return tuple(sorted({item.name for item, content in found if not content.isdisjoint(packages)}))


def digest_importable_names(folders: Iterable[Path], python: str | None = None) -> str:
    """Return a digest of all importable names, which changes when a module is added.

    Args:
        folders: Folders with the model's own modules, in addition to ``sys.path``.
        python: The interpreter that imports them; None for the current one.
    """
    searched = dict.fromkeys([*folders, *map(Path, [*sys.path, *_search_path(python)])])
    names = sorted(name for folder in searched for name in _list_names(folder))
    return digest("\n".join(names).encode("utf-8", "surrogateescape"))


def _list_names(folder: Path) -> Sequence[str]:
    if is_library(str(folder)):
        return _list_installed_names(folder, _get_modified(str(folder)))
    return _list_modules(folder)


@functools.cache
def _list_installed_names(folder: Path, _stamp: int | None) -> Sequence[str]:
    """Cache the names in a folder with thousands of entries until something is installed there."""
    return _list_modules(folder)


def _list_modules(folder: Path) -> list[str]:
    return [str(path) for path in folder.iterdir() if _is_module(path)] if folder.is_dir() else []


def _is_module(path: Path) -> bool:
    """Whether a folder entry can be imported, or is a distribution's metadata."""
    if path.suffix in _IMPORTED:
        return True
    if not path.name.isidentifier() or path.name == "__pycache__":
        return False
    if (path / "__init__.py").exists():
        return True
    return _has_modules(path)


def _has_modules(package: Path) -> bool:
    """Whether a folder contains modules, like a package without ``__init__.py``, unlike the output of a build."""
    checked = 0
    for _, folders, files in os.walk(package):  # `Path.rglob` takes ten times as long
        if any(os.path.splitext(name)[1] in _IMPORTED for name in (*folders, *files)):  # noqa: PTH122 - as above
            return True
        checked += len(folders) + len(files)
        if checked >= _MOST_ENTRIES:
            return True
    return False


@functools.cache
def _digest_own_code() -> str:
    files = sorted(file for part in _TRACER_CODE for file in _list_files(_PACKAGE / part))
    return digest(*itertools.chain.from_iterable((name.encode(), _digest_content(file)) for name, file in files))


def _list_files(path: Path) -> Iterator[tuple[str, str]]:
    """Yield relative name and path of each code file; without `Path` objects, because every build calls this."""
    folders = [(str(path.parent), [], [path.name])] if path.is_file() else os.walk(path)
    for folder, _, names in folders:
        start = len(str(_PACKAGE)) + 1
        files = (f"{folder}{os.sep}{name}" for name in names if name.endswith(_CODE))
        yield from ((file[start:].replace(os.sep, "/"), file) for file in files)


def _digest_content(file: str) -> bytes:
    with open(file, "rb") as opened:  # noqa: PTH123 - as above
        return opened.read()


@functools.cache
def _get_version(distribution: str, path: tuple[str, ...]) -> str:
    found = metadata.distributions(name=distribution, path=list(path))
    return next(map(_read_version, found), "")


def _read_version(item: metadata.Distribution) -> str:
    """Read the `version` faster than by parsing all metadata with the long description as an e-mail."""
    found = _VERSION.search(item.read_text("METADATA") or "")
    return found[1] if found else item.version


def _get_modified(folder: str) -> int | None:
    """Return the modification time, which changes when something is installed there."""
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:
        return None


@functools.cache
def _list_distributions(folder: str, _stamp: int | None) -> list[tuple[metadata.Distribution, frozenset[str]]]:
    """List the distributions in a folder with their importable packages and modules.

    This is faster than `metadata.packages_distributions`, which parses every file list: torch's has 10,000 lines.
    """
    found: list[tuple[metadata.Distribution, frozenset[str]]] = []
    for path in Path(folder).glob("*.*-info"):
        item = metadata.Distribution.at(path)
        heads = {line.partition("/")[0] for line in (item.read_text("RECORD") or "").splitlines()}
        listed = [name[1] for name in map(_NAME.match, heads) if name]
        declared = (item.read_text("top_level.txt") or "").split()
        # some packagers leave no file list, and the name in the metadata takes ten times as long to read
        found.append((item, frozenset([*listed, *declared, path.name.partition("-")[0]])))
    return found


def _search_path(python: str | None) -> list[str]:
    """Return the folders with distributions: ``sys.path``, or those of another interpreter's environment."""
    if python is None:
        return sys.path
    prefix = Path(python).parent.parent
    return sorted(map(str, [*prefix.glob("lib/python*/site-packages"), prefix / "Lib" / "site-packages"]))
