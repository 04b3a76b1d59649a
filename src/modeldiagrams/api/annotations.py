"""What an author says about nodes, outside of documentation."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.engine.annotations import annotations_of, sources_of
from modeldiagrams.options.parsing import parse_option
from modeldiagrams.render.draw import Authored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modeldiagrams.engine.annotations import Annotations
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.overlay.overlay import Overlay

__all__ = ["annotations_by_options", "annotations_in_code", "authored"]


def annotations_by_options(graph: Graph, given: Mapping[str, Any], sources: Sequence[str] = ()) -> Annotations:
    """What options of struct `Author` and comments in code say.

    Args:
        graph: The graph with the nodes.
        given: Option → value. Files are relative to the current folder.
        sources: Absolute paths of the model's source files, whose comments are read.

    Raises:
        OptionError: for a value that is not of the expected form.
    """
    options = {name: parse_option(name, value) for name, value in given.items()}
    return annotations_of(graph, options, sources, Path.cwd())


def annotations_in_code(graph: Graph, model: Any) -> Annotations:
    """What comments say in the code of a model of this process."""
    return annotations_of(graph, {}, sources_of(model), Path.cwd())


def authored(graph: Graph, overlay: Overlay | None) -> Authored | None:
    """An overlay as a picture takes it; warns if it names nodes that the graph does not have."""
    if overlay is None:
        return None
    gone = overlay.gone(graph)
    if gone:
        rest = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        warnings.warn(
            f"the overlay names {gone[0]!r}{rest}, which {graph.model.name} does not have; it was made for another"
            " graph: make it again with `annotate`",
            stacklevel=4,
        )
    return Authored(overlay=overlay.without_texts().to_json())
