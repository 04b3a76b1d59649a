"""Makes ``mkdocs serve`` watch the models' sources, and folders where a missing one may appear."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.common.user_files import list_src

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from mkdocs.livereload import LiveReloadServer

    from modeldiagrams.engine.catalogue.listing import Listed
    from modeldiagrams.engine.diagram import Diagram

__all__ = ["Watch"]


class Watch:
    """Keeps the watched files and folders, which grow from build to build."""

    def __init__(self) -> None:
        self.server: LiveReloadServer | None = None
        """None until the first build is done; until then, nothing is watched."""
        self._watched: set[str] = set()
        self._folders: set[Path] = set()

    def update(self, diagrams: Iterable[Diagram], lists: Collection[Listed], root: Path) -> None:
        """Watch the files that a build's diagrams and catalogues depend on.

        Args:
            diagrams: All diagrams of the build, including failed ones.
            lists: The models of all catalogues.
            root: The absolute path of the folder with packages.
        """
        if self.server is None:
            return
        tried = list(diagrams)
        files = {file for diagram in tried for file in diagram.sources}
        files |= {file for listed in lists for file in listed.sources}
        for file in sorted(files - self._watched):
            if Path(file).exists():
                self._watched.add(file)
                self.server.watch(file)
            else:
                # only existing paths can be watched, so watch the folder of a missing graph file
                folder = next(path for path in Path(file).parents if path.exists())
                self.server.watch(str(folder), recursive=False)
        unfound = [diagram.sources for diagram in tried if diagram.problem and diagram.problem.kind == "model"]
        for sources in (*unfound, *(listed.sources for listed in lists if listed.problem)):
            # the missing module may appear next to `mkdocs.yml`, or in an existing package
            packages = (Path(file).parent for file in sources)
            for folder in sorted({root, *list_src([root]), *packages} - self._folders):
                self._folders.add(folder)
                self.server.watch(str(folder), recursive=False)
