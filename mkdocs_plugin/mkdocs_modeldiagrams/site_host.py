"""The host of fences in a build of a MkDocs site."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from mkdocs.exceptions import PluginError
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.utils import get_relative_url
from pymdownx.superfences import SuperFencesException  # type: ignore[import-untyped]

from mkdocs_modeldiagrams.links import render_placeholder
from modeldiagrams.errors import RenderError
from modeldiagrams.hosting.catalogue_pages import MARK
from modeldiagrams.hosting.site_files import FOLDER, IndexEntry, build_diagram_files, build_shared_files, make_entry
from modeldiagrams.hosting.site_folder import SiteFolder
from modeldiagrams.html.changelog import Place, build_changelog, render_changelog
from modeldiagrams.markdown.catalogue_fence import plan_model_pages
from modeldiagrams.markdown.fence_host import FenceHost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from markdown import Markdown
    from mkdocs.config.defaults import MkDocsConfig

    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.engine.compare.documentation import Check
    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.options.settings import Settings

__all__ = ["Site"]

_log = get_plugin_logger("modeldiagrams")

_CHANGES = '<div class="mg-changelog" data-number="{}"></div>'
"""A placeholder for the changes of all models."""


class Site(FenceHost):
    """One build of one MkDocs site.

    Attributes:
        anchors: The ids of diagrams on the current page, because MkDocs doesn't search the HTML of fences for them.
        tried_diagrams: All diagrams of this build, including those that failed and are not shown.
        pages: All files of the site, with their addresses.
        model_pages: Page with catalogues → model → its file.
        listed: Model → a file, for links from API documentation; empty if the site doesn't want them.
        is_complete: Whether all pages are converted. Later conversions are repetitions, for excerpts of blog posts.
    """

    def __init__(self, builder: DiagramBuilder, config: MkDocsConfig, settings: Settings) -> None:
        super().__init__(builder, settings)
        self.config = config
        self.builder.tracing.on_trace = lambda model: _log.info("tracing %s", model)
        self.anchors: set[str] = set()
        self.tried_diagrams: list[Diagram] = []
        self.pages = Files([])
        self.model_pages: dict[str, dict[str, str]] = {}
        self.listed: dict[str, str] = {}
        self.is_complete = False
        self._file: File | None = None
        self._urls: set[str] = set()
        self._entries: list[IndexEntry] = []
        self._warned: set[str] = set()
        self._changes: list[Check] = []

    def start_document(self, md: Markdown) -> None:
        """Get the current page from MkDocs' own processor of links.

        `on_page_markdown` would be wrong, because Material's blog puts excerpts of posts on other pages.
        """
        links = "relpath" in md.treeprocessors and cast("Any", md.treeprocessors["relpath"])
        if links and links.file is not self._file:
            self._file, self.path = links.file, links.file.src_uri
            self.anchors.clear()
        self.page = self._url
        self._urls.add(self.page)

    def note_attempt(self, diagram: Diagram) -> None:
        """Note a diagram that was built or failed."""
        self.tried_diagrams.append(diagram)

    def note_shown(self, diagram: Diagram) -> None:
        """Note a diagram that the current page shows."""
        super().note_shown(diagram)
        name = diagram.options.figure.name
        if name:
            self.anchors.add(name)
        if diagram.graph is not None:
            self._entries.append(make_entry(diagram, self._url))

    def keep(self, urls: AbstractSet[str]) -> None:
        """Keep the diagrams of pages that a dirty build doesn't convert.

        Args:
            urls: The URLs of all pages that the site still has.
        """
        kept = urls - self._urls
        former = SiteFolder(Path(self.config.site_dir, FOLDER)).entries() or ()
        # first, because this build knows the graphs better
        self._entries[:0] = [entry for entry in former if entry.page.partition("#")[0] in kept]

    def files(self) -> dict[str, bytes]:
        """Return the contents of the site's ``modeldiagrams/`` folder by name; empty if the site has no diagram.

        Raises:
            PluginError: if the viewer has not been built.
        """
        diagrams = self.diagrams.values()
        if not diagrams and not self._entries and not self.catalogue_files:
            return {}
        try:
            shared = build_shared_files(self.settings, self._entries)
        except RenderError as error:
            raise PluginError(f"modeldiagrams: {error}") from error
        return {**shared, **build_diagram_files(diagrams, self.builder.page_data), **self.catalogue_files}

    def assets_url(self) -> str:
        """Return the URL prefix from the current page to the site's ``modeldiagrams/`` folder."""
        return get_relative_url(f"{FOLDER}/", self._url)

    def model_page(self, model: str, *, in_data: bool = False) -> str | None:  # noqa: ARG002
        """Return the URL of the page of a model that a catalogue on the current page lists."""
        pages = self.model_pages.get(self.path, {})
        file = self.pages.get_file_from_path(pages.get(model) or self.listed.get(model, ""))
        return get_relative_url(file.url, self._url) if file else None

    def add_model_pages(self, files: Files) -> None:
        """Add a page for each model of a catalogue, unless the author has written it."""
        self.listed.clear()  # of another language
        for page in files.documentation_pages():
            address = posixpath.splitext(page.dest_uri)[0]  # plugins for languages change it
            address = address if page.name == "index" else address.removesuffix("/index")
            planned, _ = plan_model_pages(self, page.src_uri, page.content_string, address)
            self.model_pages[page.src_uri] = {model: path for model, (path, _) in planned.items()}
            if self.settings.catalogue_links:
                self.listed.update(self.model_pages[page.src_uri] | self.listed)
            for path, text in planned.values():
                # Zensical and Sphinx leave files of these names in builds of the same sources
                if (former := files.get_file_from_path(path)) and MARK in former.content_string[:400]:
                    files.remove(former)
                elif former:
                    continue
                file = File.generated(self.config, path, content=text, inclusion=InclusionLevel.NOT_IN_NAV)
                files.append(file)
                # what such plugins know of a page
                vars(file).update((name, value) for name, value in vars(page).items() if not hasattr(file, name))

    def class_link(self, names: Sequence[str], html: str) -> str:
        """Let mkdocs-autorefs resolve the link, if the site uses it."""
        return render_placeholder(names, html) if "autorefs" in self.config.plugins and not self.is_complete else html

    def show_changes(self, found: Check) -> str:
        """Render a placeholder, because pages that come later may show the models."""
        if self.is_complete:
            return super().show_changes(found)
        self._changes.append(found)
        return _CHANGES.format(len(self._changes) - 1)

    def fill_changes(self, content: str, url: str, titles: Mapping[str, str]) -> str:
        """Replace the placeholders in a page by changes of the models that the site shows.

        Args:
            content: The page's HTML.
            url: The page's URL, relative to the site's root.
            titles: The titles of all pages by URL.
        """
        asked = {_CHANGES.format(number): found for number, found in enumerate(self._changes)}
        asked = {placeholder: found for placeholder, found in asked.items() if placeholder in content}
        places: dict[str, Place] = {}
        for entry in self._entries if asked else ():
            title = titles.get(entry.page.partition("#")[0], "")
            places.setdefault(entry.snapshot, Place(get_relative_url(entry.page or ".", url), title))
        for placeholder, found in asked.items():
            content = content.replace(placeholder, render_changelog(build_changelog(found, places)))
        return content

    def page_source(self) -> str | None:
        """Return the text of the page's file, so that line numbers include its front matter."""
        return self._file.content_string if self._file else None

    def warn(self, message: str, line: int | None, kind: str = "", /) -> None:  # noqa: ARG002
        """Log a warning that ``--strict`` counts, only once even if the page is converted several times."""
        located = f"{self.location(line)}{message}"
        if located not in self._warned:
            self._warned.add(located)
            _log.warning("%s", located)

    def inform(self, message: str) -> None:
        """Log a message for ``mkdocs build --verbose``."""
        _log.debug("%s", message)

    def fail(self, message: str, line: int | None, /) -> NoReturn:
        """End the build with a message and without traceback."""
        raise _BuildFailedError(f"{self.location(line)}{message}")

    @property
    def _url(self) -> str:
        """The URL of the current page, relative to the site's root; MkDocs has ``./`` for the front page."""
        return "" if self._file is None else self._file.url.removeprefix("./")


class _BuildFailedError(PluginError, SuperFencesException):  # type: ignore[misc]  # superfences has no types
    """Ends the build: superfences doesn't catch it, and MkDocs shows it as a message."""
