"""What is installed, without importing any of it: it decides with the sources whether a graph is still true."""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from importlib import metadata
from pathlib import Path
from platform import python_version_tuple
from typing import TYPE_CHECKING

import modeldiagrams

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = ["distributions_of", "has_torch", "made_with", "surroundings", "versions"]

_PACKAGE = Path(__file__).parent
_IMPORTED = frozenset({".py", ".so", ".pyd", ".pth", ".dist-info", ".egg-info"})
_MAKERS = ("graph.py", "serialize.py", "tracer/**/*.py", "target/**/*.py", "worker/**/*.py")
"""The code that decides what is in a graph: a development checkout keeps its version while that changes."""


def made_with(libraries: Iterable[str] = (), python: str | None = None) -> tuple[str, ...]:
    """What a graph is made with, apart from the user's sources.

    Args:
        libraries: Names of the distributions that the model is made of, torch apart.
        python: The interpreter that runs it, if it is another than this one.

    Returns:
        Digest of our own code, versions of this package, of Python, of torch, and of the libraries.
    """
    found = versions(["torch", *sorted(libraries)], python)
    return (_own_code(), modeldiagrams.__version__, *python_version_tuple()[:2], *found.values())


def versions(distributions: Iterable[str], python: str | None = None) -> dict[str, str]:
    """Version of each distribution; empty for one that is not installed."""
    return {name: _version(name, python) for name in distributions}


def has_torch() -> bool:
    """Whether torch is installed here."""
    return _version("torch", None) != ""


def distributions_of(packages: Collection[str]) -> tuple[str, ...]:
    """Names of the distributions that packages belong to: `sklearn` is installed by `scikit-learn`.

    Reads the file lists of everything that is installed, so it is for the tracing process: who looks a graph up only
    asks for the versions.
    """
    return tuple(sorted(name for name, content in _contents(tuple(sys.path)) if not content.isdisjoint(packages)))


def surroundings(folders: Iterable[Path], python: str | None = None) -> str:
    """Digest of the names that can be imported: other than that of sources, it changes when something is added.

    Args:
        folders: Where the model's own modules are, besides ``sys.path``.
        python: The interpreter that imports, if it is another than this one.
    """
    places = dict.fromkeys([*folders, *map(Path, [*sys.path, *_where(python)])])
    names = sorted(str(path) for place in places if place.is_dir() for path in place.iterdir() if _is_module(path))
    return hashlib.blake2b("\n".join(names).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _is_module(path: Path) -> bool:
    """Whether a name can be imported, or is a distribution's."""
    return path.suffix in _IMPORTED or (path.name.isidentifier() and path.name != "__pycache__")


@functools.cache
def _own_code() -> str:
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(path for pattern in _MAKERS for path in _PACKAGE.glob(pattern)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


@functools.cache
def _version(distribution: str, python: str | None) -> str:
    """Empty if it is not installed."""
    found = metadata.distributions(name=distribution, path=_where(python))
    return next((item.version for item in found), "")


@functools.cache
def _contents(path: tuple[str, ...]) -> list[tuple[str, frozenset[str]]]:
    """Distribution → its importable packages and modules.

    As `metadata.packages_distributions`, which reads every file list as a table: torch's has 10,000 lines.
    """
    found = []
    for item in metadata.distributions(path=list(path)):
        listed = re.findall(r"^(\w+)(?=[/.])", item.read_text("RECORD") or "", re.MULTILINE)
        declared = (item.read_text("top_level.txt") or "").split()
        # some packagers leave no list of files
        found.append((item.name, frozenset([*listed, *declared, item.name.replace("-", "_")])))
    return found


def _where(python: str | None) -> list[str]:
    """Where to look for distributions: where this process does, or in the environment around an interpreter."""
    if python is None:
        return sys.path
    prefix = Path(python).parent.parent
    return sorted(map(str, [*prefix.glob("lib/python*/site-packages"), prefix / "Lib" / "site-packages"]))
