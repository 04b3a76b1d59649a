"""The folder beside pages that come one by one, from converters that nobody tells when a build begins or ends."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.host import data_files
from modeldiagrams.serialize import write_atomically
from modeldiagrams.sitedata import INDEX, Listed, graph_files, outdated_files, read_index, shared_files

if TYPE_CHECKING:
    from pathlib import Path

    from modeldiagrams.diagrams import Diagram
    from modeldiagrams.settings import Settings

__all__ = ["Beside", "beside"]

_SOURCES = ".pages.json"
"""Page → its file, in the first folder: builders that keep pages tell nobody when one is removed."""

_OWN = (".js", ".json")
"""Endings of what is one diagram's own."""


class Beside:
    """The ``modeldiagrams/`` folder of one site, which may lie in several places. Converters may run in threads."""

    def __init__(self, *folders: Path) -> None:
        self._folders = folders
        self._lock = threading.Lock()
        self._documents: dict[str | None, object] = {}
        self._listed: dict[str | None, set[Listed]] = {}
        self._sources: dict[str, str] = {}

    def begin(self, page: str | None, document: object, source: str | None = None) -> None:
        """A page is converted anew, so what it showed before counts no more.

        Args:
            page: Its URL below the site's root; None where nobody knows it, so that nothing is forgotten.
            document: The same object for all pieces of a page that are converted by themselves.
            source: Its file, where the first folder lies among the pages' files.
        """
        with self._lock:
            if page is not None and self._documents.get(page) is not document:
                self._documents[page] = document
                self._listed[page] = set()
            if page is not None and source and self._is_file(source):
                self._sources[page] = source

    def add(self, page: str | None, diagram: Diagram) -> None:
        """A page shows a diagram: write what is the diagram's own."""
        options = diagram.options
        anchor = f"#{options.name}" if options.name else ""
        entry = Listed(id=diagram.id, model=options.model, page=f"{page or ''}{anchor}")
        with self._lock:
            self._write({**data_files([diagram]), **graph_files([diagram])})
            self._listed.setdefault(page, set()).update([entry] if diagram.graph else [])

    def end(self, settings: Settings, *, has_diagrams: bool) -> None:
        """A page is converted: write the list, and what all diagrams share.

        Args:
            settings: The site's.
            has_diagrams: Whether the page shows one, or a note instead of one.
        """
        first = self._folders[0]
        with self._lock:
            if not has_diagrams and not (first / INDEX).exists():
                return
            sources = _read_sources(first / _SOURCES) | self._sources
            converted = set(self._sources.values())
            # a file that is another page now is the former one no more
            here = {
                page: file
                for page, file in sources.items()
                if page in self._sources or (file not in converted and self._is_file(file))
            }
            former = [entry for entry in read_index(first / INDEX) if _page(entry) not in self._listed]
            known = [*former, *(entry for entries in self._listed.values() for entry in entries)]
            listed = [entry for entry in known if _page(entry) in here or _page(entry) not in sources]
            shared = shared_files(settings, listed)
            if here:
                self._remove_outdated({*shared, *(entry.id + ending for entry in listed for ending in _OWN)})
            self._write(shared)
            if here:
                with_diagrams = {page: here[page] for page in map(_page, listed) if page in here}
                write_atomically(first / _SOURCES, msgspec.json.encode(with_diagrams, order="sorted"))

    def _is_file(self, source: str) -> bool:
        return (self._folders[0].parent / source).is_file()

    def _write(self, files: dict[str, bytes]) -> None:
        for folder in self._folders:
            for name, content in files.items():
                write_atomically(folder / name, content)

    def _remove_outdated(self, kept: set[str]) -> None:
        """Remove the files of diagrams that no page shows any more; the author may have files there, too."""
        for folder in self._folders:
            for file in outdated_files(folder, kept):
                file.unlink()


@cache
def beside(*folders: Path) -> Beside:
    """The one of a site.

    Args:
        folders: Where it lies, absolute; what earlier builds have left is read from the first.
    """
    return Beside(*folders)


def _page(entry: Listed) -> str:
    return entry.page.partition("#")[0]


def _read_sources(path: Path) -> dict[str, str]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError):
        return {}
