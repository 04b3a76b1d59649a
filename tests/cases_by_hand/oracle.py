"""Whether a union of cases is true: each case comes out of it as it was traced alone, and nothing is mixed up."""

from __future__ import annotations

import graphlib
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from modeldiagrams.ir.cases import project_case, unite_cases
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import Graph
from modeldiagrams.ir.nodes import Node
from modeldiagrams.ir.structure import structural_digest

_PARTS = ("nodes", "adjacency", "hierarchy", "tensors", "functions", "parameters", "model", "status")


def faults(graphs: Mapping[str, Graph]) -> list[str]:
    """What is wrong with the union of these graphs; nothing, if it is true."""
    union = unite_cases(graphs)
    check_graph(union)
    found = [*_projections(union, graphs), *_mixed(union, graphs), *_cycles(union), *_backward(union)]
    for names in _orders([*graphs]):
        other = unite_cases({name: graphs[name] for name in names})
        if _shown(other) != _shown(union):
            more, fewer = _shown(other) - _shown(union), _shown(union) - _shown(other)
            counts = f"{len(other.nodes)} nodes, not {len(union.nodes)}"
            found.append(f"order {names}: {counts}; only there {first(more)}; only in the given order {first(fewer)}")
    return found


def fewest(graphs: Mapping[str, Graph]) -> int:
    """So many nodes at least a union has: of each kind of node in each module, as many as any case has."""
    most: Counter[tuple[Any, ...]] = Counter()
    for graph in graphs.values():
        paths = {node.id: tuple(call.path for call in graph.ancestors(node)) for node in graph.nodes}
        most |= Counter((paths[node.id], *_identity(graph, node)) for node in graph.nodes)
    return most.total()


def first(things: Counter[Any]) -> list[Any]:
    """Three of them."""
    return sorted(things.items(), key=str)[:3]


def _projections(union: Graph, graphs: Mapping[str, Graph]) -> Iterator[str]:
    for name, alone in graphs.items():
        projected = project_case(union, name)
        if structural_digest(projected) != structural_digest(alone):
            yield f"{name}: another digest than alone"
        for part in _PARTS:
            got, expected = (_listed(getattr(graph, part)) for graph in (projected, alone))
            if got != expected:
                wrong = next((pair for pair in itertools.zip_longest(got, expected) if pair[0] != pair[1]), None)
                yield f"{name}: {part} differ from those alone ({len(got)}, {len(expected)}): {wrong}"


def _listed(part: Any) -> list[Any]:
    """In its order, which counts."""
    plain = msgspec.to_builtins(part)
    return [*plain.items()] if isinstance(plain, dict) else [*plain]


def _mixed(union: Graph, graphs: Mapping[str, Graph]) -> Iterator[str]:
    for node in union.nodes:
        identities = set()
        for index, case in enumerate(union.cases):
            if not node.cases or index in node.cases:
                alone = graphs[case.name].node(case.ids.get(node.id, node.id))
                identities.add(_identity(graphs[case.name], alone))
        if len(identities) != 1:
            yield f"{node.id} stands for {sorted(map(str, identities))}"


def _identity(graph: Graph, node: Node) -> tuple[Any, ...]:
    """What a reader takes a node for. Inside modules of PyTorch, lines are those of calls from outside."""
    around = graph.parent(node)
    fields = ("kind", "name", "path", "class_", *(() if around and around.class_.startswith("torch.") else ("source",)))
    return *(getattr(node, name, None) for name in fields), *sorted(getattr(node, "weights", {}).items())


def _cycles(union: Graph) -> Iterator[str]:
    sorter = graphlib.TopologicalSorter({source: {e.to for e in edges} for source, edges in union.adjacency.items()})
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        yield f"a cycle: {error.args[1]}"


def _backward(union: Graph) -> Iterator[str]:
    position = {node.id: place for place, node in enumerate(union.nodes)}
    for source, edges in union.adjacency.items():
        for edge in edges:
            if position[edge.to] <= position[source]:
                yield f"an edge runs back from {source} to {edge.to}"


def _orders(names: list[str]) -> list[tuple[str, ...]]:
    """Other orders: all of up to three cases, else the reverse and each case first once."""
    if len(names) <= 3:
        return [*itertools.permutations(names)][1:]
    rotated = [(*names[turn:], *names[:turn]) for turn in range(1, len(names))]
    return [tuple(reversed(names)), *rotated]


def _shown(union: Graph) -> Counter[tuple[Any, ...]]:
    """What a reader sees of the nodes, without ids and the cases' order."""
    names = [case.name for case in union.cases]
    return Counter(
        (*_identity(union, node), tuple(sorted(names[index] for index in node.cases or range(len(names)))))
        for node in union.nodes
    )
