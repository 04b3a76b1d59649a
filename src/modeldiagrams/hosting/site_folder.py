"""Writes a site's ``modeldiagrams/`` folder, and removes files of earlier builds."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.common.files import write_atomically
from modeldiagrams.hosting.site_files import DATA_START, INDEX, OF_CATALOGUES, SHARED_NAMES, list_files, parse_index
from modeldiagrams.options.steps import LONGEST_TOUR

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from modeldiagrams.hosting.site_files import IndexEntry

__all__ = ["SiteFolder"]


class SiteFolder:
    """A site's folder; authors may keep files of their own in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __contains__(self, name: str) -> bool:
        return (self.path / name).is_file()

    def entries(self) -> list[IndexEntry] | None:
        """Read the diagrams that an earlier build listed; None if there is no readable index."""
        try:
            return parse_index((self.path / INDEX).read_bytes())
        except OSError:
            return None

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write the files that are missing or different."""
        for name, content in files.items():
            write_atomically(self.path / name, content)

    def finish(self, shared: Mapping[str, bytes], own: Collection[str], *, is_whole: bool = False) -> None:
        """Write what diagrams share, and remove files of earlier builds that this one doesn't need.

        Args:
            shared: Name → content; empty for a site without diagrams.
            own: Names of the files that single diagrams need.
            is_whole: Whether `own` covers all pages. The index doesn't list comparisons, so their files are only
                removed if it does.
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
        # other files may be the author's
        names = {
            name for entry in entries for name in list_files(entry.id, steps=LONGEST_TOUR, card=True)
        } | SHARED_NAMES
        if is_whole:
            names |= {path.name for path in self.path.glob("*.js") if _is_data(path)}
            names |= {path.name for pattern in OF_CATALOGUES for path in self.path.glob(pattern)}
        for name in names.difference(needed):
            if Path(name).name == name and name in self:
                (self.path / name).unlink()


def _is_data(path: Path) -> bool:
    start = DATA_START.encode()
    with path.open("rb") as file:
        return file.read(len(start)) == start
