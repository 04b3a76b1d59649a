"""The cases of a diagram as its page describes them to the script with the chips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldiagrams.ir.case_texts import list_letters

if TYPE_CHECKING:
    from modeldiagrams.engine.diagram import Diagram

__all__ = ["list_page_cases"]


def list_page_cases(diagram: Diagram) -> list[dict[str, Any]]:
    """List the cases that readers can choose, and those that failed; empty unless there are several."""
    graph = diagram.graph
    cases = [(i, case) for i, case in enumerate(graph.cases if graph else ()) if not case.forced]
    letters = list_letters(graph) if graph else {}
    found = []
    for position, case in cases:
        error = case.status.error
        ran = case.status.state == "complete"
        found.append(
            {
                "position": position,
                "name": case.name,
                "text": case.text,
                "letter": letters.get(position, ""),
                "error": "" if ran else (error.message.split("\n", 1)[0] if error else "it has no result"),
            }
        )
    return found if len(found) > 1 else []
