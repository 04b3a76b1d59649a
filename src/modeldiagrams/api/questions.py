"""Answers questions about a graph as plain data, for scripts, `modeldiagrams ask` and the MCP server."""

from __future__ import annotations

import difflib
import json
from collections import deque
from typing import TYPE_CHECKING, Any

from modeldiagrams.engine.compare.difference import diff
from modeldiagrams.errors import GraphError, OptionError
from modeldiagrams.ir.bounds import bounds_of
from modeldiagrams.ir.graph import OpNode

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Graph

__all__ = ["find_nodes", "find_path", "find_uses", "list_changes_since", "list_costs"]


def find_nodes(graph: Graph, pattern: str) -> dict[str, Any]:
    """Find the nodes that an author's pattern matches.

    Returns:
        `nodes`, their ids in execution order.
    """
    return {"nodes": [*graph.matching(pattern)]}


def find_path(graph: Graph, source: str, target: str) -> dict[str, Any]:
    """Find what lies between two nodes.

    Args:
        graph: The graph.
        source: Id of a node or path of a module, or a pattern that only one node matches.
        target: Likewise.

    Returns:
        `shortest`, the nodes of one shortest path, and `between`, those of all paths in execution order; both are empty
        if no path leads from one to the other.

    Raises:
        GraphError: if there is no such node, or several match.
    """
    start, end = _find(graph, source), _find(graph, target)
    between = [node.id for node in graph.between(start, end)]
    return {"source": start, "target": end, "shortest": _shortest(graph, start, end), "between": between}


def find_uses(graph: Graph, weight: str) -> dict[str, Any]:
    """Find the ops and modules that use a parameter or buffer.

    Args:
        graph: The graph.
        weight: Its dotted name, or that of a tied one.

    Returns:
        What the graph says of it, with `ops` and the `modules` around them, the innermost of each.

    Raises:
        GraphError: if there is no such parameter or buffer; suggests the nearest name.
    """
    spec = graph.parameters.get(weight)
    if spec is None:
        near = difflib.get_close_matches(weight, graph.parameters, n=1)
        raise GraphError(
            weight, f"no parameter or buffer has this name{f'; did you mean {near[0]!r}?' if near else ''}"
        )
    names = {weight, *spec.tied}
    held = {f"{kind}:{name}" for kind in ("parameter", "buffer") for name in names}
    read = {edge.to for node in held for edge in graph.adjacency.get(node, ())}
    ops = [
        node.id
        for node in graph.nodes
        if isinstance(node, OpNode) and (node.id in read or not names.isdisjoint(node.weights.values()))
    ]
    around = [parent.id for op in ops if (parent := graph.parent(op))]
    return {
        "weight": weight,
        "kind": spec.kind,
        "shape": spec.shape,
        "dtype": spec.dtype,
        "trainable": spec.trainable,
        "tied": sorted(spec.tied),
        "ops": ops,
        "modules": [*dict.fromkeys(around)],
    }


def list_costs(graph: Graph, depth: int | None = None) -> dict[str, Any]:
    """List what the model and its module calls cost.

    Args:
        graph: The graph.
        depth: The number of module levels; None for all.

    Returns:
        `parameters`, `flops` and `activation_bytes` of the model, and `modules` with the same for each module call; see
        `Graph.module_rows`. A number that rests on assumed values has a sign beside it, ``flops_sign``.

    Raises:
        OptionError: if the number of levels is negative.
    """
    if depth is not None and depth < 0:
        raise OptionError("depth", f"expected a number of module levels, got {depth}")
    bounds, model = bounds_of(graph), graph.model

    def signs(item: str | None) -> dict[str, str]:
        named = {"flops_sign": bounds.flops, "activation_bytes_sign": bounds.memory}
        return {name: bounds.cost_sign for name, items in named.items() if item in items}

    rows = [row for row in graph.module_rows() if depth is None or row["level"] <= depth]
    kept = ("id", "path", "class_name", "level", "parameters", "flops", "activation_bytes")
    return {
        "model": model.name,
        "state": graph.status.state,
        "parameters": model.parameters.total,
        "flops": model.flops,
        "activation_bytes": model.activation_bytes,
        **signs(None),
        "modules": [{name: row[name] for name in kept} | signs(row["id"]) for row in rows],  # type: ignore[literal-required]
    }


def list_changes_since(before: Graph, after: Graph) -> dict[str, Any]:
    """List what changed between two graphs, in the format of `modeldiagrams diff --format json`."""
    found: dict[str, Any] = json.loads(diff(before, after).to_json())
    return found


def _find(graph: Graph, name: str) -> str:
    try:
        return graph.node(name).id
    except GraphError:
        found = [item for item in graph.matching(name) if item in graph.by_id]
        if len(found) != 1:
            if found:
                raise GraphError(
                    name, f"{len(found)} nodes match, {', '.join(found[:3])} …; name one of them"
                ) from None
            raise
        return found[0]


def _shortest(graph: Graph, source: str, target: str) -> list[str]:
    """Return one shortest path, in nodes that are no modules."""
    starts, ends = ({node.id for node in graph.descendants(name)} | {name} for name in (source, target))
    before: dict[str, str | None] = {node.id: None for node in graph.nodes if node.id in starts}
    waiting = deque(before)
    while waiting:
        at = waiting.popleft()
        if at in ends and before[at] is not None:
            path = [at]
            while (step := before[path[-1]]) is not None:
                path.append(step)
            return path[::-1]
        for edge in graph.adjacency.get(at, ()):
            if edge.to not in before:
                before[edge.to] = at
                waiting.append(edge.to)
    return []
