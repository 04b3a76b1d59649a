"""Checks whether source files have changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.common.files import digest_file

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["are_unchanged", "digest_sources", "is_any_newer"]


def digest_sources(files: Iterable[str]) -> dict[str, str | None]:
    """Return the digests of absolute files; None for one that can't be read."""
    return {file: _digest(file) for file in files}


def are_unchanged(digests: dict[str, str | None]) -> bool:
    """Whether files still have their digests."""
    return all(_digest(file) == digest for file, digest in digests.items())


def is_any_newer(files: Iterable[str], moment: int) -> bool:
    """Whether a file was written after a moment, in nanoseconds of the system's clock, or is gone."""
    try:
        return any(Path(file).stat().st_mtime_ns >= moment for file in files)
    except OSError:
        return True


def _digest(file: str) -> str | None:
    try:
        return digest_file(Path(file))
    except OSError:
        return None
