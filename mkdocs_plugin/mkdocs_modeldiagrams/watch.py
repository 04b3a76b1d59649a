"""What ``mkdocs serve`` watches besides the pages: the models' sources, and where a missing one may appear."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.common.user_files import src_folders

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mkdocs.livereload import LiveReloadServer

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["Watch"]


class Watch:
    """The watched files and folders, which become more from build to build."""

    def __init__(self) -> None:
        self.server: LiveReloadServer | None = None
        """None before the first build is done, and then nothing is watched."""
        self._watched: set[str] = set()
        self._folders: set[Path] = set()

    def update(self, diagrams: Iterable[Diagram], root: Path) -> None:
        """Watch what a build's diagrams depend on.

        Args:
            diagrams: All of the build, failed ones included.
            root: Where packages are, absolute.
        """
        if self.server is None:
            return
        tried = list(diagrams)
        files = {file for diagram in tried for file in diagram.sources}
        for file in sorted(files - self._watched):
            if Path(file).exists():
                self._watched.add(file)
                self.server.watch(file)
            else:
                # only existing paths can be watched, so watch the folder for a missing graph file
                folder = next(path for path in Path(file).parents if path.exists())
                self.server.watch(str(folder), recursive=False)
        for diagram in tried:
            if diagram.problem and diagram.problem.kind == "model":
                # the missing module may appear beside `mkdocs.yml`, or in a package that is there
                packages = (Path(file).parent for file in diagram.sources)
                for folder in sorted({root, *src_folders([root]), *packages} - self._folders):
                    self._folders.add(folder)
                    self.server.watch(str(folder), recursive=False)
