"""The interface between a fence and the documentation tool: the current page, its links and paths, the log.

Each tool has a subclass, which also writes the files of `modeldiagrams.hosting.site_files` to the site.
"""

from __future__ import annotations

import contextlib
import logging
import posixpath
from typing import TYPE_CHECKING, NoReturn

from pymdownx.superfences import SuperFencesException  # type: ignore[import-untyped]

from modeldiagrams.engine.catalogue.listing import list_models, make_catalogue_id
from modeldiagrams.hosting.documented_classes import list_names
from modeldiagrams.hosting.site_files import FOLDER
from modeldiagrams.html.changelog import build_changelog, render_changelog
from modeldiagrams.html.fragment import is_interactive
from modeldiagrams.options.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markdown import Markdown

    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.engine.catalogue.listing import Listed
    from modeldiagrams.engine.compare.documentation import Check
    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.options.catalogue import CatalogueOptions

__all__ = ["FenceHost"]

_log = logging.getLogger("modeldiagrams.markdown")


class FenceHost:
    """The documentation tool around a fence; this base class only knows Python-Markdown.

    Attributes:
        builder: Traces and draws.
        settings: The site's settings.
        diagrams: All diagrams shown so far, by id; the site needs their files.
        catalogue_files: The files of all catalogues shown so far: name → content.
        lists: The models of all catalogues.
        on_page: The diagrams of the current document or piece, in order.
        path: The current page's file relative to the folder of all pages; empty if unknown.
        page: URL of the page relative to the site's root; None if unknown.
    """

    path: str = ""
    page: str | None = None

    def __init__(self, builder: DiagramBuilder, settings: Settings | None = None) -> None:
        self.builder = builder
        self.settings = settings or Settings()
        self.diagrams: dict[str, Diagram] = {}
        self.catalogue_files: dict[str, bytes] = {}
        self.on_page: list[Diagram] = []
        self.lists: dict[str, Listed] = {}
        self._around: list[Diagram] = []
        self._depth = 0

    @property
    def is_in_piece(self) -> bool:
        """Whether the current text is a piece of a document, converted separately by another extension."""
        return self._depth > 1

    @contextlib.contextmanager
    def converting(self) -> Iterator[None]:
        """Keep track of a document that is being converted, or a piece of one, whose diagrams belong to both."""
        around = self.on_page if self._depth else []
        outer = self._around
        self._around = [*outer, *around]
        self.on_page = []
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            self._around = outer
            self.on_page = [*around, *self.on_page]

    def is_on_page(self, name: str) -> bool:
        """Whether the current document already shows the class of this name."""
        return any(name in list_names(diagram) for diagram in (*self._around, *self.on_page))

    def start_document(self, md: Markdown) -> None:
        """Prepare for a document, or a piece of one that another extension converts separately."""

    def end_document(self) -> None:
        """Finish a document or a piece of one."""

    def note_attempt(self, diagram: Diagram) -> None:
        """Note a diagram that was built or failed, whether it is shown or not."""

    def note_shown(self, diagram: Diagram) -> None:
        """Note a diagram that the current page shows."""
        self.on_page.append(diagram)
        known = self.diagrams.get(diagram.id)
        # the known one may be a still picture, or have failed with a shorter timeout
        if known is None or not is_interactive(known):
            self.diagrams[diagram.id] = diagram

    def note_catalogue(self, files: Mapping[str, bytes]) -> None:
        """Note the files of a catalogue that the current page shows."""
        self.catalogue_files.update(files)

    def list_models(self, options: CatalogueOptions) -> Listed:
        """List the models of a catalogue, once in a build."""
        key = make_catalogue_id(options)
        self.lists[key] = self.lists.get(key) or list_models(self.builder, options, self.settings.options)
        return self.lists[key]

    def model_page(self, model: str, *, in_data: bool = False) -> str | None:  # noqa: ARG002  (hosts override it)
        """Return the URL of the page of a model that a catalogue on the current page lists; None without pages.

        Args:
            model: Its full name.
            in_data: Whether a script reads the URL, and not the tool that converts pages.
        """
        return None

    def assets_url(self) -> str:
        """Return the URL prefix from the current page to the site's ``modeldiagrams/`` folder."""
        return f"{FOLDER}/"

    def graph_file(self, path: str) -> str:
        """Resolve a path relative to the page, as in Markdown links, or with a leading ``/`` to the folder of pages."""
        if not self.path:
            return path
        folder = "" if path.startswith("/") else posixpath.dirname(self.path)
        return posixpath.normpath(posixpath.join(folder, path.lstrip("/")))

    def class_link(self, names: Sequence[str], html: str) -> str:  # noqa: ARG002  (hosts override it)
        """Turn the mention of a class into a cross reference, if the host has them.

        Args:
            names: Names under which it may be documented, the most exact first.
            html: The mention.
        """
        return html

    def show_changes(self, found: Check) -> str:
        """Render the changes of all models, or a placeholder if the host fills it when it knows all pages."""
        return render_changelog(build_changelog(found))

    def page_source(self) -> str | None:
        """Return the current page's text with front matter; None if only Python-Markdown has it."""
        return None

    def location(self, line: int | None) -> str:
        """Return the prefix of a message with its location, as editors open it: ``guide/index.md:12: ``."""
        page = self.path or self.page
        if not page:
            return f"line {line}: " if line else ""
        return f"{page}:{line}: " if line else f"{page}: "

    def warn(self, message: str, line: int | None, kind: str = "", /) -> None:  # noqa: ARG002  (only Sphinx has kinds)
        """Report a problem to the person who builds the site.

        Args:
            message: One or more lines.
            line: The line of the fence in `page_source`, from 1; None if it was not found there.
            kind: The kind of problem.
        """
        _log.warning("%s%s", self.location(line), message)

    def inform(self, message: str) -> None:
        """Show a message in verbose builds."""
        _log.debug("%s", message)

    def fail(self, message: str, line: int | None, /) -> NoReturn:
        """End the build.

        Raises:
            Exception: one that superfences lets through.
        """
        raise SuperFencesException(f"{self.location(line)}{message}")
