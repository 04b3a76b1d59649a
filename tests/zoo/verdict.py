"""Is a traced graph whole? What the zoo asks of every model."""

from __future__ import annotations

from collections.abc import Iterable

from modeldiagrams.errors import GraphError
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import Graph, InputNode, OpNode, OutputNode


def faults(graph: Graph) -> set[str]:
    """What is wrong with a graph, in a few fixed words each; empty for a whole one."""
    found = set()
    try:
        check_graph(graph)
    except GraphError as error:
        found.add(f"does not pass check(): {error}")
    if graph.status.error is not None:
        found.add(f"raised {graph.status.error.type}: {graph.status.error.message[:200]}")
    if graph.status.unseen:
        found.add("unseen")
    return found | _loose_ends(graph)


def _loose_ends(graph: Graph) -> set[str]:
    """Outputs that come from no input, and inputs that lead to no output."""
    inputs = {node.id for node in graph.nodes if isinstance(node, InputNode)}
    outputs = {node.id for node in graph.nodes if isinstance(node, OutputNode)}
    # what returns no tensor (`torch.equal`) ends in the op itself
    ends = outputs or {node.id for node in graph.nodes if isinstance(node, OpNode)}
    forward = {source: [edge.to for edge in edges] for source, edges in graph.adjacency.items()}
    backward: dict[str, list[str]] = {}
    for source, targets in forward.items():
        for target in targets:
            backward.setdefault(target, []).append(source)
    found = set()
    if not inputs:
        found.add("no input")
    elif outputs - _reached(inputs, forward):
        found.add("output from nowhere")
    if inputs - _reached(ends, backward):
        found.add("unused input")
    return found


def _reached(start: Iterable[str], ways: dict[str, list[str]]) -> set[str]:
    pending, reached = list(start), set()
    while pending:
        node = pending.pop()
        if node not in reached:
            reached.add(node)
            pending += ways.get(node, ())
    return reached
