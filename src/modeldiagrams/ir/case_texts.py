"""Says in words which cases a graph has, what they cost, and what only some of them have."""

from __future__ import annotations

from collections import Counter
from string import ascii_lowercase
from typing import TYPE_CHECKING

from modeldiagrams.common.amounts import format_bytes, format_flops
from modeldiagrams.ir.nodes import InputNode, ModuleNode, OpNode, OutputNode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.ir.graph import Case, Graph
    from modeldiagrams.ir.nodes import FunctionCall, Node

__all__ = [
    "AS_TRACED",
    "explain_failure",
    "join_names",
    "list_case_remarks",
    "list_letters",
    "mark_cases",
    "say_differences",
    "say_only",
    "shown_cases",
]


AS_TRACED = "as traced"
"""Name of the only case that the author has, beside those of other sides."""
_MOST_FORCED = 6
_KINDS: dict[type, str] = {ModuleNode: "part", OpNode: "part", InputNode: "input", OutputNode: "output"}
"""What is counted where cases differ."""


def shown_cases(graph: Graph) -> dict[int, Case]:
    """The cases that readers can choose, as in `viewer/src/graph/cases.ts`: by index."""
    return {i: case for i, case in enumerate(graph.cases) if case.status.state == "complete" and not case.forced}


def list_letters(graph: Graph) -> dict[int, str]:
    """The signs of cases in pictures and tables."""
    return dict(zip(shown_cases(graph), ascii_lowercase, strict=False))


def mark_cases(item: Node | FunctionCall, letters: Mapping[int, str]) -> str:
    """The letters of the cases that an item is in; empty if it is in all, or only in forced ones."""
    found = [letter for i, letter in letters.items() if i in item.cases]
    return "" if not item.cases or len(found) == len(letters) else " ".join(found)


def say_only(graph: Graph, item: Node | FunctionCall) -> str:
    """Say in which cases an item is, ``only in train``; empty if it is in all."""
    shown = shown_cases(graph)
    names = [case.name for i, case in shown.items() if i in item.cases]
    if not item.cases or len(names) == len(shown):
        return ""
    return f"only in {join_names(names)}" if names else "in no pass of the model itself"


def say_differences(graph: Graph) -> list[str]:
    """Say how many parts only some cases have: ``5 parts only in train``.

    The parts inside a part don't count, nor do ops that only make tensors without elements, such as empty caches.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for node in graph.nodes:
        is_empty = isinstance(node, OpNode) and all(0 in (graph.tensors[t].shape or ()) for t in node.outputs)
        kind = None if is_empty else _KINDS.get(type(node))
        if kind and (only := say_only(graph, node)):
            around = graph.parent(node)
            counts[kind, only] += around is None or around.cases != node.cases
    return [f"{count} {kind}{'s'[: count != 1]} {only}" for (kind, only), count in counts.items() if count]


def list_case_remarks(graph: Graph) -> list[str]:
    """Say what each case is and costs, and how they differ."""
    letters = list_letters(graph)
    found = [
        _describe(case, letters.get(i))
        for i, case in enumerate(graph.cases)
        if not case.forced and case.name != AS_TRACED
    ]
    if differences := say_differences(graph) if len(letters) > 1 else []:
        found.append(f"{'; '.join(differences)}.")
    forced: dict[str, list[str]] = {}
    for case in graph.cases:
        if case.forced:
            forced.setdefault(case.text, []).append(case.name)
    if forced:
        said = [_shorten(names, ", ") + (f" ({text})" if text else "") for text, names in forced.items()]
        found.append(f"Dashed: only in passes with a forced answer, {_shorten(said, '; ')}.")
    return found


def _shorten(texts: list[str], sign: str) -> str:
    return sign.join([*texts[:_MOST_FORCED], *(["…"] if len(texts) > _MOST_FORCED else [])])


def _describe(case: Case, letter: str | None) -> str:
    name = f"Case {letter}, {case.name}" if letter else f"Case {case.name}"
    text = f" ({case.text})" if case.text else ""
    if case.status.state != "complete":
        return f"{name}{text} failed: {explain_failure(case)}"
    costs = [f"{format_flops(case.model.flops)} FLOPs"] if case.model.flops else []
    costs += [f"{format_bytes(case.model.activation_bytes)} of activations"] if case.model.activation_bytes else []
    mode = {"real": "real values", "fake": "shapes only", "meta": "shapes only"}.get(case.status.mode or "", "")
    assumed = [f"assumed {item.subject} = {item.value}" for item in case.assumptions if item.subject != "rule"]
    return f"{name}{text}: {', '.join([*costs, mode, *assumed])}."


def explain_failure(case: Case) -> str:
    """Say why a case has no result, in one line; empty if it has one."""
    if case.status.state == "complete":
        return ""
    error = case.status.error
    return error.message.split("\n", 1)[0] if error else next(iter(case.status.notes), "it has no result")


def join_names(names: list[str]) -> str:
    """Join names as in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
