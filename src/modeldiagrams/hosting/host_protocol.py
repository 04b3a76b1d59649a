"""What a documentation tool provides to the code that all of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Protocol

if TYPE_CHECKING:
    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.options.settings import Settings

__all__ = ["Host"]


class Host(Protocol):
    """One documentation tool, for example one directive of Sphinx."""

    @property
    def builder(self) -> DiagramBuilder:
        """Trace and draw."""

    @property
    def settings(self) -> Settings:
        """Return the site's settings."""

    def graph_file(self, path: str) -> str:
        """Return the path of a graph file, as an author wrote it, relative to the builder's folder."""

    def inform(self, message: str) -> None:
        """Show a message in a verbose build."""

    def warn(self, message: str, place: Any, kind: str, /) -> None:
        """Report a problem to the person who builds the site.

        Args:
            message: One or more lines.
            place: What the tool calls a place in the documentation, for example a line.
            kind: The kind of problem, by which sites silence warnings.
        """

    def fail(self, message: str, place: Any, /) -> NoReturn:
        """End the build."""
