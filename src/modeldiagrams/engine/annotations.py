"""What an author says about nodes, for one diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.engine.diagram import with_problem
from modeldiagrams.engine.embedding import embedded, files_of
from modeldiagrams.overlay.comments import said_in_code, with_cues
from modeldiagrams.overlay.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.errors import OptionError

__all__ = ["annotated"]


def annotated(diagram: Diagram, folder: Path, make: Callable[[str], bytes]) -> Diagram:
    """The diagram with an overlay, if its author says anything, and with what is wrong with that as its problem.

    Args:
        diagram: One that is not yet drawn.
        folder: Images are relative to it.
        make: Calls a function of the author's for the content of a picture file.
    """
    said = {name: value for name, value in msgspec.structs.asdict(diagram.options.author).items() if value is not None}
    if diagram.graph is None:
        return diagram
    cues, wrong = said_in_code(diagram.graph, diagram.sources)
    problems: list[OptionError] = []
    if said or any(cues.values()):
        wanted = said.get("embed") or {}
        images, missing = embedded(wanted, folder, make)
        overlay, unfound = resolve(diagram.graph, with_cues(said | {"embed": images}, cues))
        problems = [*missing, *unfound]
        sources = (*diagram.sources, *files_of(wanted, folder))
        diagram = msgspec.structs.replace(diagram, overlay=overlay, sources=sources)
    for problem in [*problems, *wrong]:
        diagram = with_problem(diagram, problem)
    return diagram
