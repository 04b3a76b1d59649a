"""Describes a diagram in words: its text alternative, its problem, its guesses, and remarks on its trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldiagrams.engine.problems import fold_lines
from modeldiagrams.ir.graph import OWN_FAILURE, RECORDED, ModuleNode, OpNode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.ir.graph import Graph, Guess

__all__ = ["describe_picture", "describe_problem", "explain_caution", "list_remarks"]

# keep notes short, even if a model raises megabytes of text
_MESSAGE_LIMIT = 4_000
_FRAME_LIMIT = 12
_REMARK_LIMIT = 12
_NAME_LIMIT = 6


_TITLES = {
    "model": "The model could not be built.",
    "inputs": "The example inputs could not be created.",
    "forward": "The model raised an error.",
    "graph-file": "The graph file could not be read.",
    "option": "This diagram has an invalid option.",
    "worker": "Tracing the model did not finish.",
    "render": "The diagram could not be drawn.",
    "difference": "The two versions could not be compared.",
}


def describe_picture(diagram: Diagram) -> str:
    """Return the text alternative of the picture: the author's text, or a description of the graph."""
    if diagram.options.figure.alt:
        return diagram.options.figure.alt
    if diagram.comparison:
        return f"What changed in {diagram.comparison.after.model.name}, as the list says, marked in its architecture."
    return _describe(diagram.graph) if diagram.graph else diagram.options.call.model


def _describe(graph: Graph) -> str:
    """Describe the picture in one or two sentences."""
    model = graph.model
    modules = (node for node in graph.nodes if isinstance(node, ModuleNode) and node.call == 1)
    children = [node.path for node in modules if graph.hierarchy[node.id] is None]
    parts = f": {_shorten_list(children)}" if children else ""
    ends = [
        f"{label}: {_shorten_list(list(names))}"
        for label, names in (("Inputs", model.inputs), ("Outputs", model.outputs))
        if names
    ]
    if not graph.nodes:
        ends.append("No tensor went through this model")
    if (error := graph.status.error) is not None:
        culprit = "modeldiagrams failed" if error.type == OWN_FAILURE else "the model raised an error"
        ends.append(f"Incomplete, because {culprit}")
    return ". ".join([f"Architecture of {model.name}{parts}", *ends]) + "."


def _shorten_list(names: list[str]) -> str:
    shown = ", ".join(names[:_NAME_LIMIT])
    return f"{shown} and {len(names) - _NAME_LIMIT} more" if len(names) > _NAME_LIMIT else shown


def describe_problem(diagram: Diagram) -> dict[str, Any] | None:
    """Describe the problem of a diagram for templates, with limited length; None if there is none to show."""
    problem = diagram.shown_problem
    if problem is None:
        return None
    title = _TITLES[problem.kind]
    if diagram.picture is not None:
        title += " The diagram shows what is known."
    message = problem.message.strip()
    if len(message) > _MESSAGE_LIMIT:
        message = f"{message[:_MESSAGE_LIMIT]} … ({len(message) - _MESSAGE_LIMIT} more characters)"
    frames = fold_lines(problem.frames)
    left_out = len(frames) - _FRAME_LIMIT
    frames = frames[-_FRAME_LIMIT:]
    if left_out > 0:
        frames.insert(0, f"… {left_out} more")
    return {"kind": problem.kind, "title": title, "message": message, "frames": frames}


def explain_caution(diagram: Diagram) -> str | None:
    """Explain why the picture may be wrong: values were assumed that decide on branches and loops.

    Assumed sizes don't count; they are texts, and marked in the picture.
    """
    graph = diagram.graph if diagram.picture else None
    guesses = graph.status.guesses if graph else ()
    deciding = [guess for guess in guesses if guess.node and not isinstance(guess.value, str)]
    if graph is None or not deciding:
        return None
    values = _list_guesses(graph, deciding)
    return f"A real pass may differ: Python asked for values that were not computed, and got {values}."


def list_remarks(graph: Graph) -> list[str]:
    """List what was assumed, and what the trace missed."""
    status = graph.status
    found = list(status.notes)
    if status.state == "hierarchy":
        found.append("Module hierarchy only: no forward pass was run.")
    if status.unseen:
        count = len(status.unseen)
        found.append(f"The origin of {count} tensor{'s'[: count != 1]} is unknown.")
    if status.guesses:
        found.append(
            f"Python asked for values that were not computed; assumed: {_list_guesses(graph, status.guesses)}."
        )
    recorded = {item.reason for item in graph.assumptions if item.value == RECORDED}
    found += [f"{reason[:1].upper()}{reason[1:]}." for reason in recorded]
    found += [
        f"Assumed: {item.reason}" if item.subject == "rule" else f"Assumed {item.subject} = {item.value}: {item.reason}"
        for item in graph.assumptions
        if item.reason not in recorded
    ]
    return found[:_REMARK_LIMIT]


def _list_guesses(graph: Graph, guesses: Iterable[Guess]) -> str:
    """List assumed values with the lines that asked for them."""
    sources = {node.id: node.source for node in graph.nodes if isinstance(node, OpNode)}
    lines: dict[str, dict[str, None]] = {}
    for guess in guesses:
        source = sources.get(guess.node) if guess.node else None
        lines.setdefault(str(guess.value), {}).update({source: None} if source else {})
    return _shorten_list(
        [f"{value} at {_shorten_list([*where])}" if where else value for value, where in lines.items()]
    )
