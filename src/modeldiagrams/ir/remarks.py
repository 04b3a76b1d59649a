"""Says in words what was assumed for a graph, and what it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.ir.bounds import bounds_of
from modeldiagrams.ir.case_texts import list_case_remarks
from modeldiagrams.ir.graph import OWN_FAILURE, RECORDED, OpNode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.ir.graph import Graph, Guess

__all__ = ["explain_guesses", "explain_state", "list_limits", "list_remarks", "shorten_list"]

_REMARK_LIMIT = 12
_NAME_LIMIT = 6
_VALUE_LIMIT = 40

_HIERARCHY = "Module hierarchy only: no forward pass was run."
_SIGNS = {
    "≤": "“≤” stands before the largest possible size or cost; real ones depend on values.",
    "≈": "“≈” stands before sizes and costs that rest on assumed values.",
}
_SIGNS_OF_INPUT = {
    "≤": "“≤” stands before the largest possible size, “≈” before costs for this input; values decide them.",
    "≈": "“≈” stands before sizes that rest on assumed values, and before costs for this input.",
}
"""The same if costs are those of a pass with real values."""


def explain_state(graph: Graph) -> str | None:
    """Explain why a graph is not that of a whole pass; None if it is."""
    if (error := graph.status.error) is not None:
        culprit = "modeldiagrams failed" if error.type == OWN_FAILURE else "the model raised an error"
        return f"Incomplete, because {culprit}."
    return _HIERARCHY if graph.status.state == "hierarchy" else None


def explain_guesses(graph: Graph) -> str | None:
    """Explain why a graph may be wrong: values were assumed that decide on branches and loops.

    Assumed sizes don't count; they are texts, and marked in the picture.
    """
    deciding = [guess for guess in graph.status.guesses if guess.node and not isinstance(guess.value, str)]
    if not deciding:
        return None
    values = _list_guesses(graph, deciding)
    return f"A real pass may differ: Python asked for values that were not computed, and got {values}."


def list_limits(graph: Graph) -> list[str]:
    """List in short sentences what the readers of a picture without a page around it must know."""
    bounds = bounds_of(graph)
    signs = (_SIGNS_OF_INPUT if graph.status.costs_of_input else _SIGNS)[bounds.sign]
    found = [
        explain_state(graph),
        signs if bounds.tensors or bounds.flops else None,
        explain_guesses(graph),
        _explain_unseen(graph),
        _explain_assumptions(graph),
    ]
    return [sentence for sentence in found if sentence]


def list_remarks(graph: Graph) -> list[str]:
    """List the cases, what was assumed, with reasons, and what the trace missed."""
    status = graph.status
    found = [*list_case_remarks(graph), *status.notes, *(graph.sizes.notes if graph.sizes else ())]
    if status.state == "hierarchy":
        found.append(_HIERARCHY)
    if unseen := _explain_unseen(graph):
        found.append(unseen)
    if status.guesses:
        found.append(
            f"Python asked for values that were not computed; assumed: {_list_guesses(graph, status.guesses)}."
        )
    if status.costs_of_input:
        found.append("Costs marked “≈” are those of a real pass, for this input.")
    recorded = {item.reason for item in graph.assumptions if item.value == RECORDED}
    found += [f"{reason[:1].upper()}{reason[1:]}." for reason in recorded]
    found += [
        f"Assumed: {item.reason}" if item.subject == "rule" else f"Assumed {item.subject} = {item.value}: {item.reason}"
        for item in graph.assumptions
        if item.reason not in recorded
    ]
    return found[: _REMARK_LIMIT + len(graph.cases)]


def shorten_list(names: list[str]) -> str:
    """Join names with commas; of many, the first and the number of others."""
    shown = ", ".join(names[:_NAME_LIMIT])
    return f"{shown} and {len(names) - _NAME_LIMIT} more" if len(names) > _NAME_LIMIT else shown


def _explain_unseen(graph: Graph) -> str | None:
    count = len(graph.status.unseen)
    return f"The origin of {count} tensor{'s'[: count != 1]} is unknown." if count else None


def _explain_assumptions(graph: Graph) -> str | None:
    recorded = {item.reason for item in graph.assumptions if item.value == RECORDED}
    given = [item for item in graph.assumptions if item.subject != "rule" and item.reason not in recorded]
    # sizes in the picture are those of the inputs
    given.sort(key=lambda item: not item.subject.startswith("inputs"))
    values = [f"{item.subject} = {_shorten(item.value)}" for item in given]
    sentence = f"Assumed: {shorten_list(values)}"
    return f"{sentence}{'' if sentence.endswith('…') else '.'}" if values else None


def _shorten(value: str) -> str:
    return value if len(value) <= _VALUE_LIMIT else f"{value[:_VALUE_LIMIT].rstrip(' .,:')}…"


def _list_guesses(graph: Graph, guesses: Iterable[Guess]) -> str:
    """List assumed values with the lines that asked for them."""
    sources = {node.id: node.source for node in graph.nodes if isinstance(node, OpNode)}
    lines: dict[str, dict[str, None]] = {}
    for guess in guesses:
        source = sources.get(guess.node) if guess.node else None
        lines.setdefault(str(guess.value), {}).update({source: None} if source else {})
    return shorten_list([f"{value} at {shorten_list([*where])}" if where else value for value, where in lines.items()])
