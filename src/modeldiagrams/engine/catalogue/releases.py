"""Finds the first release that has a graph of each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.engine.compare.history import list_tags
from modeldiagrams.engine.compare.sides import git
from modeldiagrams.errors import ModelDiagramsError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

__all__ = ["find_first_releases"]


def find_first_releases(folder: Path, names: Collection[str]) -> dict[str, str]:
    """Find the first git tag with each snapshot, of those that lead to the current commit.

    Args:
        folder: The folder of snapshots.
        names: The names of their files.

    Returns:
        Name → tag, only for snapshots in tags; nothing without git or without tags.
    """
    found: dict[str, str] = {}
    try:
        for tag in list_tags(folder):
            listed = git(["ls-tree", "-z", "--name-only", tag.name], f"{tag.name}: expected a tag", folder)
            for name in listed.decode("utf-8", "replace").split("\0"):
                if name in names:
                    found.setdefault(name, tag.name)
    except (ModelDiagramsError, OSError):
        return {}
    return found
