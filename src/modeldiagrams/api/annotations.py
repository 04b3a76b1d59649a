"""What an author says about nodes, outside of documentation."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.engine.embedding import embedded, without_model
from modeldiagrams.options.parsing import parse_option
from modeldiagrams.overlay.comments import said_in_code, with_cues
from modeldiagrams.overlay.resolve import resolve
from modeldiagrams.render.draw import Said
from modeldiagrams.worker.dependencies import dependencies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modeldiagrams.engine.embedding import Make
    from modeldiagrams.errors import ModelDiagramsError
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.overlay.overlay import Overlay

__all__ = ["overlay_by_options", "overlay_of_code", "said"]


def overlay_by_options(
    graph: Graph, given: Mapping[str, Any], make: Make, sources: Sequence[str] = ()
) -> tuple[Overlay | None, list[ModelDiagramsError]]:
    """The overlay of options of struct `Author` and of comments in code, and what is wrong with them.

    Args:
        graph: What they are said of.
        given: Option → value. Files are relative to the current folder.
        make: Calls functions of the author's that make images.
        sources: Absolute paths of the model's source files, whose comments are read.

    Returns:
        The overlay, None where nothing is said, and the problems; the rest holds all the same.

    Raises:
        OptionError: for a value that is not of the expected form.
    """
    cues, wrong = said_in_code(graph, sources)
    if not given and not any(cues.values()):
        return None, [*wrong]
    options = {name: parse_option(name, value) for name, value in given.items()}
    found = embedded(options.get("embed") or {}, Path.cwd(), make)
    overlay, problems = resolve(graph, with_cues(options | {"embed": found.images}, cues))
    return overlay, [*found.problems, *problems, *wrong]


def overlay_of_code(graph: Graph, model: Any) -> tuple[Overlay | None, list[ModelDiagramsError]]:
    """The overlay of the comments in a model's code, see `overlay_by_options`.

    Args:
        graph: Of the model.
        model: The model, whose files are those of its classes and what they import, or a function.
    """
    modules = getattr(model, "modules", None)
    classes = {type(module) for module in modules()} if callable(modules) else set[type]()
    name = f"{getattr(model, '__module__', '')}.{getattr(model, '__qualname__', '')}"
    return overlay_by_options(graph, {}, without_model, dependencies(classes, [name], ()))


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
