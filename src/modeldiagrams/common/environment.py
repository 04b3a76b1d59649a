"""What is installed, without importing any of it. With the sources it decides whether a cached graph is valid."""

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
from modeldiagrams.common.version import own_version

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

__all__ = ["distributions_of", "has_torch", "importable_names_digest", "made_with", "versions"]

_PACKAGE = Path(__file__).parents[1]
_IMPORTED = frozenset({".py", ".so", ".pyd", ".pth", ".dist-info", ".egg-info"})
_NAME = re.compile(r"(\w+)(?:\.|$)")
_VERSION = re.compile(r"^Version: *(.*?)\s*$", re.MULTILINE)
_MOST_LOOKED_AT = 1000
"""Entries of a folder: one of data may have millions."""
_CODE = (".py", ".yaml", ".toml")
_TRACER_CODE = ("common", "errors.py", "ir", "options", "resolve", "tracer", "worker")
"""The code that decides on a graph's content: in a development checkout it changes while the version doesn't."""


def made_with(libraries: Iterable[str] = (), python: str | None = None) -> tuple[str, ...]:
    """Versions of all that a graph depends on, apart from the user's sources.

    Args:
        libraries: Names of the distributions that the model uses, apart from torch.
        python: The interpreter that runs the model; None for this process's.

    Returns:
        Digest of our own code, versions of this package, of Python, of torch, and of the libraries.
    """
    found = versions(["torch", *sorted(libraries)], python)
    return (_own_code(), own_version(), *python_version_tuple()[:2], *found.values())


def versions(distributions: Iterable[str], python: str | None = None) -> dict[str, str]:
    """Version of each distribution; empty for one that is not installed."""
    path = tuple(_search_path(python))
    return {name: _version(name, path) for name in distributions}


def has_torch() -> bool:
    """Whether torch is installed here."""
    return bool(versions(["torch"])["torch"])


def distributions_of(packages: Collection[str]) -> tuple[str, ...]:
    """Names of the distributions that packages belong to: `sklearn` is installed by `scikit-learn`.

    Reads the file lists of everything that is installed, so only the worker calls it.
    """
    found = (item for folder in sys.path for item in _contents(folder, _modified(folder)))
    return tuple(sorted({item.name for item, content in found if not content.isdisjoint(packages)}))


def importable_names_digest(folders: Iterable[Path], python: str | None = None) -> str:
    """Digest of the names that can be imported; unlike a digest of sources it changes when a module is added.

    Args:
        folders: Where the model's own modules are, besides ``sys.path``.
        python: The interpreter that imports; None for this process's.
    """
    searched = dict.fromkeys([*folders, *map(Path, [*sys.path, *_search_path(python)])])
    names = sorted(name for folder in searched for name in _names_in(folder))
    return digest("\n".join(names).encode("utf-8", "surrogateescape"))


def _names_in(folder: Path) -> Sequence[str]:
    if is_library(str(folder)):
        return _installed_names(folder, _modified(str(folder)))
    return _modules_in(folder)


@functools.cache
def _installed_names(folder: Path, _stamp: int | None) -> Sequence[str]:
    """Of thousands of entries, asked for by every failure that is remembered; an installation changes the folder."""
    return _modules_in(folder)


def _modules_in(folder: Path) -> list[str]:
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
    """Whether there are any inside, as in a package without ``__init__.py``; the output of a build has none."""
    looked_at = 0
    for _, folders, files in os.walk(package):  # `Path.rglob` takes ten times as long
        if any(os.path.splitext(name)[1] in _IMPORTED for name in (*folders, *files)):  # noqa: PTH122 - as above
            return True
        looked_at += len(folders) + len(files)
        if looked_at >= _MOST_LOOKED_AT:
            return True
    return False


@functools.cache
def _own_code() -> str:
    files = sorted(file for part in _TRACER_CODE for file in _files_below(_PACKAGE / part))
    return digest(*itertools.chain.from_iterable((name.encode(), _content(file)) for name, file in files))


def _files_below(path: Path) -> Iterator[tuple[str, str]]:
    """Name below our package and path of each file of code; every build asks, so without a `Path` for each."""
    folders = [(str(path.parent), [], [path.name])] if path.is_file() else os.walk(path)
    for folder, _, names in folders:
        start = len(str(_PACKAGE)) + 1
        files = (f"{folder}{os.sep}{name}" for name in names if name.endswith(_CODE))
        yield from ((file[start:].replace(os.sep, "/"), file) for file in files)


def _content(file: str) -> bytes:
    with open(file, "rb") as opened:  # noqa: PTH123 - as above
        return opened.read()


@functools.cache
def _version(distribution: str, path: tuple[str, ...]) -> str:
    """Empty if it is not installed."""
    found = metadata.distributions(name=distribution, path=list(path))
    return next(map(_version_in, found), "")


def _version_in(item: metadata.Distribution) -> str:
    """Its `version`; that parses all metadata as an e-mail, which includes the long description."""
    found = _VERSION.search(item.read_text("METADATA") or "")
    return found[1] if found else item.version


def _modified(folder: str) -> int | None:
    """Changes when something is installed there."""
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:
        return None


@functools.cache
def _contents(folder: str, _stamp: int | None) -> list[tuple[metadata.Distribution, frozenset[str]]]:
    """The distributions in a folder with their importable packages and modules.

    As `metadata.packages_distributions`, which reads every file list as a table: torch's has 10,000 lines.
    """
    found: list[tuple[metadata.Distribution, frozenset[str]]] = []
    for path in Path(folder).glob("*.*-info"):
        item = metadata.Distribution.at(path)
        heads = {line.partition("/")[0] for line in (item.read_text("RECORD") or "").splitlines()}
        listed = [name[1] for name in map(_NAME.match, heads) if name]
        declared = (item.read_text("top_level.txt") or "").split()
        # some packagers leave no list of files, and its name in the metadata takes ten times as long to read
        found.append((item, frozenset([*listed, *declared, path.name.partition("-")[0]])))
    return found


def _search_path(python: str | None) -> list[str]:
    """Folders with distributions: this process's ``sys.path``, or those of another interpreter's environment."""
    if python is None:
        return sys.path
    prefix = Path(python).parent.parent
    return sorted(map(str, [*prefix.glob("lib/python*/site-packages"), prefix / "Lib" / "site-packages"]))
