"""The site a fence stands in: which page it is, how links and paths work there, whom to warn."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from mkdocs.plugins import get_plugin_logger
from mkdocs.utils import get_relative_url

from mkdocs_modeldiagrams.links import mention
from modeldiagrams.fence import FenceHost
from modeldiagrams.host import FOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

    from modeldiagrams.diagrams import Diagram, Maker

__all__ = ["Site"]

_log = get_plugin_logger("modeldiagrams")


class Site(FenceHost):
    """One build of one MkDocs site.

    Attributes:
        page: The page that is being converted.
        anchors: Ids of its diagrams; MkDocs itself does not look into what a fence makes.
    """

    def __init__(self, maker: Maker, config: MkDocsConfig, defaults: Mapping[str, Any]) -> None:
        super().__init__(maker, defaults)
        self.config = config
        self.page: Page | None = None
        self.anchors: set[str] = set()

    def begin(self, page: Page) -> None:
        """What is drawn next stands on this page."""
        self.page = page
        self.anchors.clear()

    def drawn(self, diagram: Diagram) -> None:
        """Called with every diagram that is put on the current page."""
        super().drawn(diagram)
        if diagram.options.name:
            self.anchors.add(diagram.options.name)

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
        place = [self.page.file.src_uri] if self.page else []
        place += [str(line)] if line else []
        _log.warning("%s%s", ":".join(place) + ": " if place else "", message)

    def inform(self, message: str) -> None:
        """Shown by ``mkdocs build --verbose``."""
        _log.debug("%s", message)
