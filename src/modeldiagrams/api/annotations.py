"""What an author says about nodes, outside of documentation."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.engine.embedding import embedded
from modeldiagrams.options.parsing import parse_option
from modeldiagrams.overlay.resolve import resolve
from modeldiagrams.render.draw import Said

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.engine.embedding import Make
    from modeldiagrams.errors import OptionError
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.overlay.overlay import Overlay

__all__ = ["overlay_by_options", "said"]


def overlay_by_options(graph: Graph, given: Mapping[str, Any], make: Make) -> tuple[Overlay | None, list[OptionError]]:
    """The overlay of options of struct `Author`, and what is wrong with them; None without any.

    Args:
        graph: What they are said of.
        given: Option → value. Files are relative to the current folder.
        make: Calls functions of the author's that make images.

    Raises:
        OptionError: for a value that is not of the expected form.
    """
    if not given:
        return None, []
    options = {name: parse_option(name, value) for name, value in given.items()}
    found = embedded(options.get("embed") or {}, Path.cwd(), make)
    overlay, problems = resolve(graph, options | {"embed": found.images})
    return overlay, [*found.problems, *problems]


def said(graph: Graph, overlay: Overlay | None) -> Said | None:
    """What a picture shows besides its graph; warns of what is not in the graph."""
    if overlay is None:
        return None
    gone = overlay.gone(graph)
    if gone:
        rest = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        warnings.warn(
            f"the overlay speaks of {gone[0]!r}{rest}, which {graph.model.name} does not have; it was made for another"
            " graph: make it again with `annotate`",
            stacklevel=4,
        )
    return Said(overlay=overlay.without_texts().to_json())
