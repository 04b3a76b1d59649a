"""The base class of directives, which implements `Host`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from sphinx_modeldiagrams.conf_values import get_settings
from sphinx_modeldiagrams.domain import domain_of
from sphinx_modeldiagrams.reporting import DiagramError, warn

if TYPE_CHECKING:
    from docutils.nodes import Node

    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.options.settings import Settings

__all__ = ["HostDirective"]

_log = logging.getLogger(__name__)


class HostDirective(SphinxDirective):
    """A directive that is its own `Host`."""

    final_argument_whitespace = True

    @property
    def builder(self) -> DiagramBuilder:
        """The builder that traces, draws and compares."""
        return domain_of(self.env).diagram_builder

    @property
    def settings(self) -> Settings:
        """The site's settings."""
        return get_settings(self.config)

    def graph_file(self, path: str) -> str:
        """Resolve a path relative to the document, or with a leading ``/`` to the source folder, as in Sphinx."""
        return self.env.relfn2path(path)[0]

    def inform(self, message: str) -> None:
        """Log a message for ``sphinx-build -v``."""
        _log.verbose("%s", message, location=self.get_location())

    def warn(self, message: str, place: Node | None, kind: str, /) -> None:
        """Warn of a problem at a node, or else at this directive."""
        warn(kind, message, place or self.get_location())

    def fail(self, message: str, _place: Node | None, /) -> NoReturn:
        """End the build."""
        raise DiagramError(f"{self.get_location()}: {message}")
