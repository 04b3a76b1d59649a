"""Writes ``modeldiagrams/`` page by page, for hosts without events at the start and end of a build.

Python-Markdown converts single documents. Zensical converts pages in threads and keeps them from build to build, so
the diagrams of other pages are read from the files written for them.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.hosting.site_files import INDEX, build_diagram_files, build_shared_files, list_files, make_entry
from modeldiagrams.options.steps import LONGEST_TOUR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.hosting.site_files import IndexEntry
    from modeldiagrams.hosting.site_folder import SiteFolder
    from modeldiagrams.html.fragment import Keep
    from modeldiagrams.options.settings import Settings

__all__ = ["IncrementalSite"]

_SOURCES = ".pages.json"
"""Maps pages to their source files, so that later builds notice removed pages."""


class IncrementalSite:
    """One site; safe to use from several threads."""

    def __init__(self, folder: SiteFolder, *copies: SiteFolder) -> None:
        """Write nothing yet.

        Args:
            folder: The folder, with the files of earlier builds. Source files are relative to its parent.
            copies: Other places for the same files.
        """
        self._folder = folder
        self._folders = (folder, *copies)
        self._lock = threading.Lock()
        self._documents: dict[str | None, object] = {}
        self._entries: dict[str | None, set[IndexEntry]] = {}
        self._sources: dict[str, str] = {}

    def start_page(self, page: str | None, document: object, source: str | None = None) -> None:
        """Forget what a page showed before.

        Args:
            page: URL relative to the site's root; if None (unknown), nothing is forgotten.
            document: The same object for all pieces of a page.
            source: The page's source file.
        """
        if page is None:
            return
        with self._lock:
            if self._documents.get(page) is not document:
                self._documents[page] = document
                self._entries[page] = set()
            if source and self._exists(source):
                self._sources[page] = source

    def add(self, page: str | None, diagram: Diagram, keep: Keep) -> None:
        """Write the files of a diagram that a page shows; for `keep`, see `build_data_script`."""
        self.write(build_diagram_files([diagram], keep))
        with self._lock:
            self._entries.setdefault(page, set()).update([make_entry(diagram, page or "")] if diagram.graph else [])

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files."""
        with self._lock:
            for folder in self._folders:
                folder.write(files)

    def finish_page(self, settings: Settings, *, has_diagrams: bool) -> None:
        """Write the index and the viewer.

        Args:
            settings: The site's settings.
            has_diagrams: Whether the page shows a diagram or a catalogue, or a note instead.
        """
        with self._lock:
            if not has_diagrams and INDEX not in self._folder:
                return
            sources = self._read_sources() | self._sources
            present = self._find_present(sources)
            former = [entry for entry in self._folder.entries() or () if _find_page(entry) not in self._entries]
            known = [*former, *(entry for entries in self._entries.values() for entry in entries)]
            entries = [entry for entry in known if _find_page(entry) in present or _find_page(entry) not in sources]
            shared = build_shared_files(settings, entries)
            for folder in self._folders:
                if present:
                    own = (list_files(entry.id, steps=LONGEST_TOUR, card=True) for entry in entries)
                    folder.finish(shared, set().union(*own))
                else:
                    folder.write(shared)
            if present:
                with_diagrams = {page: present[page] for page in map(_find_page, entries) if page in present}
                self._folder.write({_SOURCES: msgspec.json.encode(with_diagrams, order="sorted")})

    def _find_present(self, sources: dict[str, str]) -> dict[str, str]:
        """Return the pages that the site still has, with their source files."""
        converted = set(self._sources.values())
        return {
            page: file
            for page, file in sources.items()
            # a file converted as another page has moved there
            if page in self._sources or (file not in converted and self._exists(file))
        }

    def _exists(self, source: str) -> bool:
        return (self._folder.path.parent / source).is_file()

    def _read_sources(self) -> dict[str, str]:
        try:
            return msgspec.json.decode((self._folder.path / _SOURCES).read_bytes(), type=dict[str, str])
        except (OSError, msgspec.MsgspecError):
            return {}


def _find_page(entry: IndexEntry) -> str:
    return entry.page.partition("#")[0]
