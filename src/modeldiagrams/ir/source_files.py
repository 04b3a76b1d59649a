"""Finds source files on this machine by their names in graphs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["source_file"]


def source_file(name: str, files: Iterable[str]) -> str | None:
    """The file that a graph names: the one with the fewest folders before the name; None if there are several."""
    ending = [file for file in files if f"/{Path(file).as_posix()}".endswith(f"/{name}")]
    found = sorted({Path(file): file for file in ending}.items(), key=lambda one: len(one[0].parts))
    is_clear = len(found) == 1 or (len(found) > 1 and len(found[0][0].parts) < len(found[1][0].parts))
    return found[0][1] if is_clear else None
