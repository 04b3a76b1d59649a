"""Finds the first release that has a graph of each model."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from modeldiagrams.common.files import GRAPHS, get_graph_name
from modeldiagrams.engine.compare.history import list_tags
from modeldiagrams.engine.compare.sides import git
from modeldiagrams.engine.diagram_ids import drop_digest
from modeldiagrams.errors import ModelDiagramsError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["find_first_releases"]


def find_first_releases(folder: Path) -> dict[str, str]:
    """Find the first git tag with a snapshot of each model, of those that lead to the current commit.

    A snapshot with other inputs or arguments is one of the model, too. What the first tag with any snapshots has may be
    older than its snapshot, so its release is unknown.

    Args:
        folder: The folder of snapshots.

    Returns:
        Name of the model's snapshots, without digest → tag; nothing without git or without tags.
    """
    found: dict[str, str] = {}
    try:
        for tag in list_tags(folder):
            listed = git(["ls-tree", "-z", "--name-only", tag.name], f"{tag.name}: expected a tag", folder)
            for file in listed.decode("utf-8", "replace").split("\0"):
                if file.endswith(GRAPHS):
                    found.setdefault(drop_digest(get_graph_name(PurePosixPath(file))), tag.name)
    except (ModelDiagramsError, OSError):
        return {}
    first = next(iter(found.values()), "")
    return {name: tag for name, tag in found.items() if tag != first}
