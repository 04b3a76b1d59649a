"""Describes a diagram in words: its text alternative, its problem, and why its picture may be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldiagrams.engine.problems import fold_lines
from modeldiagrams.ir.case_texts import say_differences, shown_cases
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.ir.named_shapes import say_sizes
from modeldiagrams.ir.remarks import explain_guesses, explain_state, shorten_list

if TYPE_CHECKING:
    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.ir.graph import Graph

__all__ = ["describe_picture", "describe_problem", "explain_caution"]

# keep notes short, even if a model raises megabytes of text
_MESSAGE_LIMIT = 4_000
_FRAME_LIMIT = 12

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
    parts = f": {shorten_list(children)}" if children else ""
    ends = [
        f"{label}: {shorten_list(list(names))}"
        for label, names in (("Inputs", model.inputs), ("Outputs", model.outputs))
        if names
    ]
    if len(shown := shown_cases(graph)) > 1:
        names = shorten_list([case.name for case in shown.values()])
        ends += [f"Cases: {names}", *([shorten_list(only)] if (only := say_differences(graph)) else [])]
    if sizes := say_sizes(graph):
        ends.append(f"Sizes: {sizes}")
    if not graph.nodes:
        ends.append("No tensor went through this model")
    if (state := explain_state(graph)) is not None:
        ends.append(state.removesuffix("."))
    return ". ".join([f"Architecture of {model.name}{parts}", *ends]) + "."


def describe_problem(diagram: Diagram) -> dict[str, Any] | None:
    """Describe the problem of a diagram for templates, with limited length; None if there is none to show."""
    problem = diagram.shown_problem
    if problem is None:
        return None
    title = _TITLES[problem.kind]
    cases = diagram.graph.cases if diagram.graph else ()
    if any(case.status.state == "complete" for case in cases) and problem.kind in {"inputs", "forward"}:
        failed = sum(case.status.state != "complete" for case in cases)
        title = f"{failed} of {len(cases)} cases failed. The diagram shows the others."
    elif diagram.picture is not None:
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
    """Explain why the picture may be wrong, see `explain_guesses`."""
    return explain_guesses(diagram.graph) if diagram.picture and diagram.graph else None
