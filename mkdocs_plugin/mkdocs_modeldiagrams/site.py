"""The site a fence stands in: which page it is, how links and paths work there, whom to warn."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.plugins import get_plugin_logger
from mkdocs.utils import get_relative_url
from pymdownx.superfences import SuperFencesException  # type: ignore[import-untyped]

from mkdocs_modeldiagrams.links import mention
from modeldiagrams.errors import RenderError
from modeldiagrams.fence import FenceHost
from modeldiagrams.host import FOLDER, data_files
from modeldiagrams.sitedata import Listed, graph_files, shared_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

    from modeldiagrams.diagrams import Diagram, Maker
    from modeldiagrams.settings import Settings

__all__ = ["Site"]

_log = get_plugin_logger("modeldiagrams")


class Site(FenceHost):
    """One build of one MkDocs site.

    Attributes:
        page: The page that is being converted.
        anchors: Ids of its diagrams; MkDocs itself does not look into what a fence makes.
    """

    def __init__(self, maker: Maker, config: MkDocsConfig, settings: Settings) -> None:
        super().__init__(maker, settings)
        self.config = config
        self.page: Page | None = None
        self.anchors: set[str] = set()
        self._listed: list[Listed] = []

    def begin(self, page: Page) -> None:
        """What is drawn next stands on this page."""
        self.page = page
        self.anchors.clear()

    def drawn(self, diagram: Diagram) -> None:
        """Called with every diagram that is put on the current page."""
        super().drawn(diagram)
        name = diagram.options.name
        if name:
            self.anchors.add(name)
        if self.page and diagram.graph is not None:
            page = f"{self.page.url}#{name}" if name else self.page.url
            self._listed.append(Listed(id=diagram.id, model=diagram.options.model, page=page))

    def files(self) -> dict[str, bytes]:
        """What stands beside the pages: name in the site's ``modeldiagrams/`` folder → content.

        Raises:
            PluginError: if the viewer has not been built.
        """
        diagrams = self.diagrams.values()
        try:
            shared = shared_files(self.settings, self._listed)
        except RenderError as error:
            raise PluginError(f"modeldiagrams: {error}") from error
        return {**shared, **data_files(diagrams), **graph_files(diagrams)}

    def assets(self) -> str:
        """URL prefix from the current page to the site's ``modeldiagrams/`` folder."""
        return get_relative_url(f"{FOLDER}/", self.page.url) if self.page else f"{FOLDER}/"

    def graph_file(self, path: str) -> str:
        """Relative to the page as in Markdown links, or with a leading ``/`` to the docs folder."""
        if path.startswith("/") or self.page is None:
            return path.lstrip("/")
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.page.file.src_uri), path))

    def link(self, names: Sequence[str], html: str) -> str:
        """Let mkdocs-autorefs resolve it, where the site has it."""
        return mention(names, html) if "autorefs" in self.config.plugins else html

    def source(self) -> str | None:
        """The page's file, for line numbers an editor understands."""
        return self.page.file.content_string if self.page else None

    def warn(self, message: str, line: int | None) -> None:
        """Counted by ``--strict``."""
        _log.warning("%s%s", self.place(line), message)

    def inform(self, message: str) -> None:
        """Shown by ``mkdocs build --verbose``."""
        _log.debug("%s", message)

    def fail(self, message: str, line: int | None) -> None:
        """End the build with this message, not with a traceback."""
        raise _BuildFailedError(f"{self.place(line)}{message}")

    def place(self, line: int | None) -> str:
        """As editors understand it: ``guide/index.md:12: ``."""
        place = [self.page.file.src_uri] if self.page else []
        place += [str(line)] if line else []
        return ":".join(place) + ": " if place else ""


class _BuildFailedError(PluginError, SuperFencesException):  # type: ignore[misc]  # superfences has no types
    """What superfences lets through and MkDocs shows as a message."""
