"""What every directive of this extension is: the `Host` of what it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from sphinx_modeldiagrams.config import settings_of
from sphinx_modeldiagrams.domain import domain_of

if TYPE_CHECKING:
    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.options.settings import Settings

__all__ = ["HostDirective"]

_log = logging.getLogger(__name__)


class HostDirective(SphinxDirective):
    """A directive that is itself the `Host`."""

    final_argument_whitespace = True

    @property
    def builder(self) -> DiagramBuilder:
        """Traces, draws and compares."""
        return domain_of(self.env).diagram_builder

    @property
    def settings(self) -> Settings:
        """The site's."""
        return settings_of(self.config)

    def graph_file(self, path: str) -> str:
        """Relative to the document as in Sphinx's own directives, or with a leading ``/`` to the source folder."""
        return self.env.relfn2path(path)[0]

    def inform(self, message: str) -> None:
        """Shown by ``sphinx-build -v``."""
        _log.verbose("%s", message, location=self.get_location())
