"""The cases of a diagram as its page describes them to the script with the chips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldiagrams.ir.case_texts import explain_failure, list_letters

if TYPE_CHECKING:
    from modeldiagrams.engine.diagram import Diagram

__all__ = ["list_page_cases"]


def list_page_cases(diagram: Diagram) -> list[dict[str, Any]]:
    """List the cases that readers can choose, and those that failed; empty unless there are several."""
    graph = diagram.graph
    letters = list_letters(graph) if graph else {}
    found = [
        {
            "position": i,
            "name": case.name,
            "text": case.text,
            "letter": letters.get(i, ""),
            "error": explain_failure(case),
        }
        for i, case in enumerate(graph.cases if graph else ())
        if not case.forced
    ]
    return found if len(found) > 1 else []
