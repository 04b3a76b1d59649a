"""The folder beside pages that come one by one, from converters that nobody tells when a build begins or ends."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING

from modeldiagrams.host import FOLDER, data_files
from modeldiagrams.serialize import write_atomically
from modeldiagrams.sitedata import INDEX, Listed, graph_files, read_index, shared_files

if TYPE_CHECKING:
    from pathlib import Path

    from modeldiagrams.diagrams import Diagram
    from modeldiagrams.settings import Settings

__all__ = ["Beside", "beside"]


class Beside:
    """The ``modeldiagrams/`` folder of one site. Converters may run in several threads."""

    def __init__(self, site: Path) -> None:
        self._site = site
        self._lock = threading.Lock()
        self._documents: dict[str | None, object] = {}
        self._listed: dict[str | None, set[Listed]] = {}

    def begin(self, page: str | None, document: object) -> None:
        """A page is converted anew, so what it showed before counts no more.

        Args:
            page: Its URL below the site's root; None where nobody knows it, so that nothing is forgotten.
            document: The same object for all pieces of a page that are converted by themselves.
        """
        with self._lock:
            if page is not None and self._documents.get(page) is not document:
                self._documents[page] = document
                self._listed[page] = set()

    def add(self, page: str | None, diagram: Diagram) -> None:
        """A page shows a diagram: write what is the diagram's own."""
        options = diagram.options
        anchor = f"#{options.name}" if options.name else ""
        entry = Listed(id=diagram.id, model=options.model, page=f"{page or ''}{anchor}")
        with self._lock:
            for name, content in {**data_files([diagram]), **graph_files([diagram])}.items():
                write_atomically(self._site / FOLDER / name, content)
            self._listed.setdefault(page, set()).update([entry] if diagram.graph else [])

    def end(self, settings: Settings, *, has_diagrams: bool) -> None:
        """A page is converted: write the list, and what all diagrams share.

        Args:
            settings: The site's.
            has_diagrams: Whether the page shows one, or a note instead of one.
        """
        index = self._site / FOLDER / INDEX
        with self._lock:
            if not has_diagrams and not index.exists():
                return
            former = [entry for entry in read_index(index) if self._is_kept(entry)]
            listed = [*former, *(entry for entries in self._listed.values() for entry in entries)]
            for name, content in shared_files(settings, listed).items():
                write_atomically(self._site / FOLDER / name, content)

    def _is_kept(self, entry: Listed) -> bool:
        """Whether an entry of an earlier build still holds: some builders keep pages whose text is as it was."""
        page = entry.page.partition("#")[0]
        file = self._site / page
        return page not in self._listed and (not page or file.is_file() or (file / "index.html").is_file())


@cache
def beside(site: Path) -> Beside:
    """The one of a site.

    Args:
        site: The folder that the site is written into, absolute.
    """
    return Beside(site)
