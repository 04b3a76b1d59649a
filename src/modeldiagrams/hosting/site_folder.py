"""A site's ``modeldiagrams/`` folder on disk: what is written, and which files of an earlier build are removed."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.common.files import write_atomically
from modeldiagrams.hosting.site_files import DATA_START, INDEX, SHARED_NAMES, diagram_file_names, parse_index
from modeldiagrams.options.steps import LONGEST_TOUR

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from modeldiagrams.hosting.site_files import IndexEntry

__all__ = ["SiteFolder"]


class SiteFolder:
    """The folder of one site, in which authors may keep files of their own."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __contains__(self, name: str) -> bool:
        return (self.path / name).is_file()

    def entries(self) -> list[IndexEntry] | None:
        """The diagrams that an earlier build listed; None if there was none, or none that we can read."""
        try:
            return parse_index((self.path / INDEX).read_bytes())
        except OSError:
            return None

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files that are missing or different."""
        for name, content in files.items():
            write_atomically(self.path / name, content)

    def finish(self, shared: Mapping[str, bytes], own: Collection[str], *, is_whole: bool = False) -> None:
        """End a build: write what diagrams share, and remove what an earlier build wrote and this one would not.

        Args:
            shared: Name → content; empty for a site without diagrams.
            own: Names of the files of single diagrams that the site needs.
            is_whole: Whether `own` has those of all pages: the index names no diagram of what changed.
        """
        self._remove_outdated({*shared, *own}, is_whole=is_whole)
        self.write(shared)
        if not shared:
            with contextlib.suppress(OSError):
                self.path.rmdir()

    def _remove_outdated(self, needed: Collection[str], *, is_whole: bool) -> None:
        entries = self.entries()
        if entries is None:
            return
        # only what the index names is ours, and what we write alone
        names = {name for entry in entries for name in diagram_file_names(entry.id, steps=LONGEST_TOUR)} | SHARED_NAMES
        if is_whole:
            names |= {path.name for path in self.path.glob("*.js") if _is_data(path)}
        for name in names.difference(needed):
            if Path(name).name == name and name in self:
                (self.path / name).unlink()


def _is_data(path: Path) -> bool:
    start = DATA_START.encode()
    with path.open("rb") as file:
        return file.read(len(start)) == start
