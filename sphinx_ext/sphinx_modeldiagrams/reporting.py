"""Warnings that sites can silence by kind: ``suppress_warnings = ["modeldiagrams.forward"]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.errors import SphinxError
from sphinx.util import logging

if TYPE_CHECKING:
    from docutils.nodes import Node

__all__ = ["DiagramError", "warn"]

_log = logging.getLogger("sphinx_modeldiagrams")


class DiagramError(SphinxError):
    """A diagram has a problem, and the site has ``modeldiagrams_on_error = "raise"``."""

    category = "Model diagram error"


def warn(kind: str, message: str, location: str | Node | None = None) -> None:
    """Warn of a problem.

    Args:
        kind: What sites silence: a problem's kind, or what else is wrong.
        message: Without the prefix ``model-graph:``.
        location: Where it is: ``file:line``, a document or a node.
    """
    text = message if message.startswith("model-") else f"model-graph: {message}"
    is_of_all = kind == "snapshot"  # which several diagrams share, also those that are read in other processes
    _log.warning("%s", text, location=location, type="modeldiagrams", subtype=kind, once=is_of_all)
