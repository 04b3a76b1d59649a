"""What is installed, without importing any of it: it decides with the sources whether a graph is still true."""

from __future__ import annotations

import functools
import hashlib
import sys
from importlib import metadata
from pathlib import Path
from platform import python_version_tuple

import modeldiagrams

__all__ = ["has_torch", "made_with"]

_PACKAGE = Path(__file__).parent
_MAKERS = ("graph.py", "serialize.py", "tracer/**/*.py", "target/**/*.py", "worker/**/*.py")
"""The code that decides what is in a graph: a development checkout keeps its version while that changes."""


def made_with(model: str, python: str | None = None) -> tuple[str, ...]:
    """What a graph is made with.

    Args:
        model: Dotted path of the model.
        python: The interpreter that runs it, if it is another than this one.

    Returns:
        Digest of our own code, versions of this package, of Python, of torch, and of the model's distributions.
    """
    package = model.partition(":")[0].partition(".")[0]
    versions = [_version(name, python) for name in ("torch", *_distributions(package, python))]
    return (_own_code(), modeldiagrams.__version__, *python_version_tuple()[:2], *versions)


def has_torch() -> bool:
    """Whether torch is installed here."""
    return _version("torch", None) != ""


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
def _distributions(package: str, python: str | None) -> tuple[str, ...]:
    """Names of the distributions that a package belongs to: `sklearn` is installed by `scikit-learn`.

    As `metadata.packages_distributions`, which reads every file list as a table: torch's has 10,000 lines.
    """
    inside, alone = f"\n{package}/", f"\n{package}.py,"
    found = []
    for item in metadata.distributions(path=_where(python)):
        files = f"\n{item.read_text('RECORD') or ''}"
        declared = (item.read_text("top_level.txt") or "").split()
        if inside in files or alone in files or package in declared:
            found.append(item.name)
    return tuple(sorted(found))


def _where(python: str | None) -> list[str]:
    """Where to look for distributions: where this process does, or in the environment around an interpreter."""
    if python is None:
        return sys.path
    prefix = Path(python).parent.parent
    return sorted(map(str, [*prefix.glob("lib/python*/site-packages"), prefix / "Lib" / "site-packages"]))
