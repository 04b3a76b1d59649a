"""What a fence needs from the documentation tool around it: the current page, its links and paths, the log.

Each tool derives its own host, which also puts the files of `modeldiagrams.hosting.site_files` into the site.
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from pymdownx.superfences import SuperFencesException  # type: ignore[import-untyped]

from modeldiagrams.hosting.documented_classes import names_of
from modeldiagrams.hosting.site_files import FOLDER
from modeldiagrams.html.fragment import is_interactive
from modeldiagrams.options.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown import Markdown

    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.engine.diagram import Diagram

__all__ = ["FenceHost"]

_log = logging.getLogger("modeldiagrams.markdown")


class FenceHost:
    """The documentation tool around a fence; this one only knows Python-Markdown.

    Attributes:
        builder: Traces and draws.
        settings: The site's.
        diagrams: Every diagram shown so far, by id; the site needs their files.
        on_page: Those of the current document, or piece of one, in order.
    """

    def __init__(self, builder: DiagramBuilder, settings: Settings | None = None) -> None:
        self.builder = builder
        self.settings = settings or Settings()
        self.diagrams: dict[str, Diagram] = {}
        self.on_page: list[Diagram] = []
        self._around: list[Diagram] = []
        self._depth = 0

    @property
    def is_in_piece(self) -> bool:
        """Whether what is being converted is a piece of a document that another extension converts on its own."""
        return self._depth > 1

    @contextlib.contextmanager
    def converting(self) -> Iterator[None]:
        """Convert a document, or a piece of one, whose diagrams are the document's, too."""
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
        """Whether the current document, of which this may be a piece, shows the class of this name already."""
        return any(name in names_of(diagram) for diagram in (*self._around, *self.on_page))

    def start_document(self, md: Markdown) -> None:
        """Called before each document, and each piece of one that another extension converts on its own."""

    def end_document(self) -> None:
        """Called after each document, and each such piece of one."""

    def note_attempt(self, diagram: Diagram) -> None:
        """Called with every diagram that was built, or could not be, whether it is shown or not."""

    def note_shown(self, diagram: Diagram) -> None:
        """Called with every diagram that the current page shows."""
        self.on_page.append(diagram)
        known = self.diagrams.get(diagram.id)
        # another diagram of this id may be a still picture, or have failed with a shorter timeout
        if known is None or not is_interactive(known):
            self.diagrams[diagram.id] = diagram

    def assets_url(self) -> str:
        """URL prefix from the current page to the site's ``modeldiagrams/`` folder."""
        return f"{FOLDER}/"

    def graph_file(self, path: str) -> str:
        """The path of a graph file as an author wrote it → relative to the builder's folder."""
        return path

    def class_link(self, names: Sequence[str], html: str) -> str:  # noqa: ARG002  (hosts override it)
        """A mention of a class, as a cross reference where the host has them.

        Args:
            names: Those it may be documented under, most exact first.
            html: The mention.
        """
        return html

    def page_source(self) -> str | None:
        """The current page's whole text, front matter included; None if only Python-Markdown has it."""
        return None

    def location(self, line: int | None) -> str:
        """Prefix of a message that says where in the documentation it belongs."""
        return f"line {line}: " if line else ""

    def warn(self, message: str, line: int | None) -> None:
        """Report a problem to whoever builds the site.

        Args:
            message: One or more lines.
            line: Of the fence in `page_source`, from 1; None if it was not found there.
        """
        _log.warning("%s%s", self.location(line), message)

    def inform(self, message: str) -> None:
        """Show a message to those who build the site verbosely."""
        _log.debug("%s", message)

    def fail(self, message: str, line: int | None) -> None:
        """End the build.

        Raises:
            Exception: one that superfences lets through.
        """
        raise SuperFencesException(f"{self.location(line)}{message}")
