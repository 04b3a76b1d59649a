"""Collects annotations of nodes outside documentation."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.engine.annotations import annotations_of
from modeldiagrams.options.parsing import parse_option
from modeldiagrams.render.draw import Authored

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.engine.annotations import Annotations
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.overlay.overlay import Overlay

__all__ = ["collect_annotations", "prepare_overlay"]


def collect_annotations(graph: Graph, given: Mapping[str, Any]) -> Annotations:
    """Collect annotations from options of the struct `Author`.

    Args:
        graph: The graph with the nodes.
        given: The options by name. Files are relative to the current folder.

    Raises:
        OptionError: for an invalid value.
    """
    options = {name: parse_option(name, value) for name, value in given.items()}
    return annotations_of(graph, options, Path.cwd())


def prepare_overlay(graph: Graph, overlay: Overlay | None) -> Authored | None:
    """Prepare an overlay for a picture; warn if it names nodes that the graph doesn't have."""
    if overlay is None:
        return None
    gone = overlay.gone(graph)
    if gone:
        rest = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        warnings.warn(
            f"the overlay was made for another graph: {graph.model.name} has no {gone[0]!r}{rest}; make it again with"
            " `annotate`",
            stacklevel=4,
        )
    return Authored(overlay=overlay.without_texts().to_json())
