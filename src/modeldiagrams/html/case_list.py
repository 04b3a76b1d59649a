"""The cases of a diagram as its page describes them to the script with the chips."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeldiagrams.engine.diagram import Diagram

__all__ = ["list_page_cases"]


def list_page_cases(diagram: Diagram) -> list[dict[str, Any]]:
    """List the cases that readers can choose, and those that failed; empty unless there are several."""
    cases = [(i, case) for i, case in enumerate(diagram.graph.cases if diagram.graph else ()) if not case.forced]
    letters = iter(ascii_lowercase)
    found = []
    for position, case in cases:
        error = case.status.error
        ran = case.status.state == "complete"
        found.append(
            {
                "position": position,
                "name": case.name,
                "text": case.text,
                # as `shownCases` in viewer/src/graph/cases.ts
                "letter": next(letters) if ran else "",
                "error": "" if ran else (error.message.split("\n", 1)[0] if error else "it has no result"),
            }
        )
    return found if len(found) > 1 else []
