"""What an author says about nodes, for one diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.engine.diagram import with_problem
from modeldiagrams.engine.embedding import embedded
from modeldiagrams.overlay.comments import said_in_code, with_cues
from modeldiagrams.overlay.resolve import resolve

if TYPE_CHECKING:
    from pathlib import Path

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.engine.embedding import Make
    from modeldiagrams.errors import OptionError

__all__ = ["annotated"]


def annotated(diagram: Diagram, folder: Path, make: Make) -> Diagram:
    """The diagram with an overlay, if its author says anything, and with what is wrong with that as its problem.

    Args:
        diagram: One that is not yet drawn.
        folder: Images are relative to it.
        make: Calls functions of the author's that make images.
    """
    said = {name: value for name, value in msgspec.structs.asdict(diagram.options.author).items() if value is not None}
    if diagram.graph is None:
        return diagram
    cues, wrong = said_in_code(diagram.graph, diagram.sources)
    problems: list[OptionError] = []
    if said or any(cues.values()):
        found = embedded(said.get("embed") or {}, folder, make)
        overlay, unfound = resolve(diagram.graph, with_cues(said | {"embed": found.images}, cues))
        problems = [*found.problems, *unfound]
        sources = tuple(dict.fromkeys([*diagram.sources, *found.sources]))
        libraries = tuple(dict.fromkeys([*diagram.libraries, *found.libraries]))
        diagram = msgspec.structs.replace(diagram, overlay=overlay, sources=sources, libraries=libraries)
    for problem in [*problems, *wrong]:
        diagram = with_problem(diagram, problem)
    return diagram
