"""The site a fence stands in: which page it is, how links and paths work there, whom to warn."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mkdocs.exceptions import PluginError
from mkdocs.plugins import get_plugin_logger
from mkdocs.utils import get_relative_url
from pymdownx.superfences import SuperFencesException  # type: ignore[import-untyped]

from mkdocs_modeldiagrams.links import mention
from modeldiagrams.errors import RenderError
from modeldiagrams.fence import FenceHost
from modeldiagrams.host import FOLDER, data_files
from modeldiagrams.sitedata import INDEX, Listed, graph_files, read_index, shared_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from markdown import Markdown
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import File

    from modeldiagrams.diagrams import Diagram, Maker
    from modeldiagrams.settings import Settings

__all__ = ["Site"]

_log = get_plugin_logger("modeldiagrams")


class Site(FenceHost):
    """One build of one MkDocs site.

    Attributes:
        anchors: Ids of diagrams of the current page; MkDocs itself does not look into what a fence makes.
        tried_diagrams: All of this build, also those that could not be made and are not shown.
        is_complete: Whether all pages are converted. What comes then is shown a second time: an excerpt of a blog post.
    """

    def __init__(self, maker: Maker, config: MkDocsConfig, settings: Settings) -> None:
        super().__init__(maker, settings)
        self.config = config
        self.maker.on_trace = lambda model: _log.info("tracing %s", model)
        self.anchors: set[str] = set()
        self.tried_diagrams: list[Diagram] = []
        self.is_complete = False
        self._file: File | None = None
        self._urls: set[str] = set()
        self._listed: list[Listed] = []
        self._warned: set[str] = set()

    def begins(self, md: Markdown) -> None:
        """Learn which page this is from MkDocs' own processor of links.

        `on_page_markdown` does not tell it: Material's blog puts excerpts of posts on other pages.
        """
        links = "relpath" in md.treeprocessors and cast("Any", md.treeprocessors["relpath"])
        if links and links.file is not self._file:
            self._file = links.file
            self.anchors.clear()
        self._urls.add(self._url)

    def tried(self, diagram: Diagram) -> None:
        """Called with every diagram that was made, or could not be."""
        self.tried_diagrams.append(diagram)

    def drawn(self, diagram: Diagram) -> None:
        """Called with every diagram that is put on the current page."""
        super().drawn(diagram)
        name = diagram.options.name
        if name:
            self.anchors.add(name)
        if diagram.graph is not None:
            page = f"{self._url}#{name}" if name else self._url
            self._listed.append(Listed(id=diagram.id, model=diagram.options.model, page=page))

    def keep(self, urls: AbstractSet[str]) -> None:
        """List what an earlier build has put on pages that a dirty build leaves as they are.

        Args:
            urls: Of all pages the site still has.
        """
        kept = urls - self._urls
        former = read_index(Path(self.config.site_dir, FOLDER, INDEX))
        self._listed += [entry for entry in former if entry.page.partition("#")[0] in kept]

    def files(self) -> dict[str, bytes]:
        """What stands beside the pages: name in the site's ``modeldiagrams/`` folder → content.

        Nothing, if the site has no diagram at all.

        Raises:
            PluginError: if the viewer has not been built.
        """
        diagrams = self.diagrams.values()
        if not diagrams and not self._listed:
            return {}
        try:
            shared = shared_files(self.settings, self._listed)
        except RenderError as error:
            raise PluginError(f"modeldiagrams: {error}") from error
        return {**shared, **data_files(diagrams), **graph_files(diagrams)}

    def assets(self) -> str:
        """URL prefix from the current page to the site's ``modeldiagrams/`` folder."""
        return get_relative_url(f"{FOLDER}/", self._url)

    def graph_file(self, path: str) -> str:
        """Relative to the page as in Markdown links, or with a leading ``/`` to the docs folder."""
        if path.startswith("/") or self._file is None:
            return path.lstrip("/")
        return posixpath.normpath(posixpath.join(posixpath.dirname(self._file.src_uri), path))

    def link(self, names: Sequence[str], html: str) -> str:
        """Let mkdocs-autorefs resolve it, where the site has it."""
        return mention(names, html) if "autorefs" in self.config.plugins and not self.is_complete else html

    def source(self) -> str | None:
        """The page's file, for line numbers an editor understands."""
        return self._file.content_string if self._file else None

    def warn(self, message: str, line: int | None) -> None:
        """Counted by ``--strict``; once, however often the page is shown."""
        located = f"{self.place(line)}{message}"
        if located not in self._warned:
            self._warned.add(located)
            _log.warning("%s", located)

    def inform(self, message: str) -> None:
        """Shown by ``mkdocs build --verbose``."""
        _log.debug("%s", message)

    def fail(self, message: str, line: int | None) -> None:
        """End the build with this message, not with a traceback."""
        raise _BuildFailedError(f"{self.place(line)}{message}")

    def place(self, line: int | None) -> str:
        """As editors understand it: ``guide/index.md:12: ``."""
        place = [self._file.src_uri] if self._file else []
        place += [str(line)] if line else []
        return ":".join(place) + ": " if place else ""

    @property
    def _url(self) -> str:
        """Of the current page, below the site's root; MkDocs says ``./`` for the front page's."""
        return "" if self._file is None else self._file.url.removeprefix("./")


class _BuildFailedError(PluginError, SuperFencesException):  # type: ignore[misc]  # superfences has no types
    """What superfences lets through and MkDocs shows as a message."""
