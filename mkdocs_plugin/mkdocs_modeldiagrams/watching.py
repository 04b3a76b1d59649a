"""What ``mkdocs serve`` watches besides the pages: the models' sources, and where a missing one may appear."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from watchdog.events import FileCreatedEvent, FileSystemEvent, FileSystemEventHandler

from mkdocs_modeldiagrams.memory import sources

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mkdocs.livereload import LiveReloadServer

    from modeldiagrams.diagrams import Diagram

__all__ = ["Watch"]


class Watch:
    """Grows from build to build, as the builds show what there is to watch."""

    def __init__(self) -> None:
        self.server: LiveReloadServer | None = None
        """Nothing is watched before there is one."""
        self._watched: set[str] = set()
        self._expecting: set[Path] = set()
        self._names: set[str] = set()

    def update(self, diagrams: Iterable[Diagram], root: Path) -> None:
        """Watch what a build's diagrams depend on.

        Args:
            diagrams: All that were tried.
            root: Where packages are, absolute.
        """
        if self.server is None:
            return
        tried = list(diagrams)
        files = {file for diagram in tried for file in sources(diagram, root)}
        for file in sorted(files - self._watched):
            if Path(file).exists():
                self._watched.add(file)
                self.server.watch(file)
            else:
                # only what exists can be watched: a graph file that is yet to come shows in its folder
                folder = next(path for path in Path(file).parents if path.exists())
                self.server.watch(str(folder), recursive=False)
        for diagram in tried:
            if diagram.problem and diagram.problem.kind == "model":
                # its module may be yet to come: beside `mkdocs.yml`, or in a package that is there
                self._names.update(diagram.options.model.partition(":")[0].split("."))
                for folder in sorted({root, *(Path(file).parent for file in diagram.sources)} - self._expecting):
                    self._expect(self.server, folder)

    def _expect(self, server: LiveReloadServer, folder: Path) -> None:
        self._expecting.add(folder)
        server.watch(str(folder), recursive=False)
        server.observer.schedule(_NewPackages(server, self._names), str(folder), recursive=False)


class _NewPackages(FileSystemEventHandler):
    """MkDocs' server looks at files alone; this one has a folder of an expected name watched as soon as it is there."""

    def __init__(self, server: LiveReloadServer, names: set[str]) -> None:
        self._server = server
        self._names = names

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by the server's observer."""
        if not event.is_directory or event.event_type not in {"created", "moved"}:
            return
        folder = Path(str(event.dest_path or event.src_path))
        if folder.name in self._names:
            self._server.watch(str(folder))
            # what is in it already has no event of its own
            watch = self._server.observer.schedule(self, str(folder.parent), recursive=False)
            self._server.observer.event_queue.put((FileCreatedEvent(str(folder / "__init__.py")), watch))
