"""Checks that every reference in a `Graph` holds."""

from __future__ import annotations

import re

from modeldiagrams.errors import GraphError
from modeldiagrams.ir.check_cases import check_cases
from modeldiagrams.ir.check_sizes import check_sizes
from modeldiagrams.ir.check_ways import check_ways
from modeldiagrams.ir.graph import (
    BufferNode,
    Graph,
    InputNode,
    ModelInfo,
    ModuleNode,
    Node,
    OpNode,
    OutputNode,
    ParameterNode,
)
from modeldiagrams.ir.times import sum_times

__all__ = ["check_graph"]

_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")


def check_graph(graph: Graph) -> None:
    """Check that every reference in a graph holds.

    Raises:
        GraphError: for the first reference that doesn't hold, with its JSON path.
    """
    nodes = _check_nodes(graph)
    _check_hierarchy(graph, nodes)
    _check_functions(graph)
    _check_edges(graph, nodes)
    _check_references(graph, nodes)
    _check_times(graph)
    check_ways(graph)
    check_cases(graph, nodes)
    check_sizes(graph, nodes)
    _check_samples(graph)


def _check_nodes(graph: Graph) -> dict[str, Node]:
    """Check that ids are unique and every tensor has one producer; return the nodes by id."""
    nodes: dict[str, Node] = {}
    produced: dict[str, str] = {}  # tensor → the node that makes it
    for i, node in enumerate(graph.nodes):
        if node.id in nodes:
            raise GraphError(f"$.nodes[{i}].id", f"expected a unique id, got {node.id!r} a second time")
        nodes[node.id] = node
        if isinstance(node, OutputNode | ModuleNode):
            continue
        for j, tensor in enumerate(node.outputs):
            path = f"$.nodes[{i}].outputs[{j}]"
            if tensor not in graph.tensors:
                raise GraphError(path, f"expected a key of $.tensors, got {tensor!r}")
            if tensor in produced:
                raise GraphError(path, f"tensor {tensor!r} is already made by node {produced[tensor]!r}")
            produced[tensor] = node.id
    for tensor in graph.tensors:
        if tensor not in produced:
            raise GraphError(f"$.tensors[{tensor!r}]", "expected a node that lists this tensor in its outputs")
    return nodes


def _check_hierarchy(graph: Graph, nodes: dict[str, Node]) -> None:
    """Check that every parent is a module call listed before the node, which excludes cycles."""
    opened: set[str] = set()
    for i, node in enumerate(graph.nodes):
        path = f"$.hierarchy[{node.id!r}]"
        if node.id not in graph.hierarchy:
            raise GraphError(path, f"missing: expected the parent of $.nodes[{i}], or null at the root")
        parent = graph.hierarchy[node.id]
        if parent is not None and parent not in opened:
            raise GraphError(path, f"expected a module call listed before the node, got {parent!r}")
        if isinstance(node, ModuleNode):
            opened.add(node.id)
    for key in graph.hierarchy:
        if key not in nodes:
            raise GraphError(f"$.hierarchy[{key!r}]", "no such node")


def _check_functions(graph: Graph) -> None:
    """Check that function calls are nested, and belong to the parent of their nodes."""
    modules: dict[str, str | None] = {}  # function call → the module call around it
    calls = {node.id for node in graph.nodes if isinstance(node, ModuleNode)}
    for name, function in graph.functions.items():
        path, parent = f"$.functions[{name!r}]", function.parent
        if function.id != name or name in graph.hierarchy:
            raise GraphError(f"{path}.id", f"expected {name!r}, its key, and no node of this id; got {function.id!r}")
        if parent is not None and parent not in modules and parent not in calls:
            raise GraphError(
                f"{path}.parent", f"expected a module call, or a function call listed before, got {parent!r}"
            )
        modules[name] = modules.get(parent, parent) if parent else None
    for i, node in enumerate(graph.nodes):
        scope = None if isinstance(node, InputNode | OutputNode) else node.scope
        if scope is None:
            continue
        if scope not in modules:
            raise GraphError(f"$.nodes[{i}].scope", f"expected a key of $.functions, got {scope!r}")
        if modules[scope] != graph.hierarchy[node.id]:
            raise GraphError(
                f"$.nodes[{i}].scope",
                f"expected a function call inside {graph.hierarchy[node.id]!r}, the node's parent, got {scope!r}",
            )
    _check_members(graph)


def _check_members(graph: Graph) -> None:
    """Check that the nodes of every function call follow one another, and that there are some."""
    running: dict[str | None, tuple[str, ...]] = {}  # parent → function calls around its latest node
    ended: set[str] = set()
    for node in graph.nodes:
        parent = graph.hierarchy[node.id]
        around = tuple(call.id for call in graph.functions_around(node)) if graph.functions else ()
        ended.update({*running.get(parent, ())}.difference(around))
        for name in around:
            if name in ended:
                path = f"$.functions[{name!r}]"
                raise GraphError(path, f"expected its nodes one after another, got {node.id!r} after nodes outside")
        running[parent] = around
    for name in graph.functions:
        if name not in ended and not any(name in around for around in running.values()):
            raise GraphError(f"$.functions[{name!r}]", "expected nodes in it, got none that names it as `scope`")


def _check_edges(graph: Graph, nodes: dict[str, Node]) -> None:
    """Check that edges run forward between existing nodes and carry a tensor that their source makes."""
    order = {node.id: i for i, node in enumerate(graph.nodes)}
    for source, edges in graph.adjacency.items():
        path = f"$.adjacency[{source!r}]"
        node = nodes.get(source)
        if node is None:
            raise GraphError(path, "no such node")
        if isinstance(node, OutputNode | ModuleNode):
            raise GraphError(path, f"a node of kind {node.kind!r} has no outgoing edges; edges run between ops")
        for i, edge in enumerate(edges):
            target = nodes.get(edge.to)
            if target is None:
                raise GraphError(f"{path}[{i}].to", f"no such node: {edge.to!r}")
            if not isinstance(target, OpNode | OutputNode):
                raise GraphError(f"{path}[{i}].to", f"expected an op or output, got kind {target.kind!r}")
            if order[edge.to] <= order[source]:
                raise GraphError(f"{path}[{i}].to", f"{edge.to!r} ran before {source!r}; edges run forward")
            if edge.tensor not in node.outputs:
                raise GraphError(f"{path}[{i}].tensor", f"{source!r} does not make {edge.tensor!r}")


def _check_references(graph: Graph, nodes: dict[str, Node]) -> None:
    """Check that weights, inputs and outputs of modules, ties and the status name existing things."""
    _check_tensor_names(graph, "$.model", _ports(graph.model))
    for i, node in enumerate(graph.nodes):
        if isinstance(node, OpNode):
            for argument, weight in node.weights.items():
                _check_parameter(graph, f"$.nodes[{i}].weights[{argument!r}]", weight)
        elif isinstance(node, ParameterNode | BufferNode):
            _check_parameter(graph, f"$.nodes[{i}].name", node.name)
        elif isinstance(node, ModuleNode):
            _check_tensor_names(graph, f"$.nodes[{i}]", _ports(node))
    for name, call in graph.functions.items():
        _check_tensor_names(graph, f"$.functions[{name!r}]", {"inputs": call.inputs})
    for name, spec in graph.parameters.items():
        for i, other in enumerate(spec.tied):
            _check_parameter(graph, f"$.parameters[{name!r}].tied[{i}]", other)
    _check_status(graph, nodes)


def _check_status(graph: Graph, nodes: dict[str, Node]) -> None:
    for key in ("unseen", "assumed_tensors"):
        for i, tensor in enumerate(getattr(graph.status, key)):
            if tensor not in graph.tensors:
                raise GraphError(f"$.status.{key}[{i}]", f"no such tensor: {tensor!r}")
    for i, name in enumerate(graph.status.assumed_flops):
        if name not in nodes and name not in graph.functions:
            raise GraphError(f"$.status.assumed_flops[{i}]", f"no such node or function call: {name!r}")
    for i, guess in enumerate(graph.status.guesses):
        if guess.node is not None and guess.node not in nodes:
            raise GraphError(f"$.status.guesses[{i}].node", f"no such node: {guess.node!r}")
    error = graph.status.error
    if (error is not None) != (graph.status.state == "partial"):
        raise GraphError("$.status", "state 'partial' and an error belong together; got one without the other")
    if error is not None and error.node is not None and error.node not in nodes:
        raise GraphError("$.status.error.node", f"no such node: {error.node!r}")


def _check_samples(graph: Graph) -> None:
    """Check that samples are of tensors of the graph, and that pages can show their pictures."""
    for name, sample in graph.samples.tensors.items() if graph.samples else ():
        path = f"$.samples.tensors[{name!r}]"
        if name not in graph.tensors:
            raise GraphError(path, "expected the id of a tensor of this graph")
        if not _BASE64.fullmatch(sample.picture):
            raise GraphError(f"{path}.picture", "expected a PNG in base64")


def _check_times(graph: Graph) -> None:
    """Check that times are not negative, and add up in module calls, function calls and the model."""
    ops = {node.id: node.time_ns for node in graph.nodes if isinstance(node, OpNode) and node.time_ns is not None}
    times = sum_times(graph, ops)
    for i, node in enumerate(graph.nodes):
        time = getattr(node, "time_ns", None)  # only module calls and ops have one
        if time is not None or node.id in times:
            _check_time(f"$.nodes[{i}]", time, times.get(node.id), graph)
    for name, call in graph.functions.items():
        _check_time(f"$.functions[{name!r}]", call.time_ns, times.get(name), graph)
    _check_time("$.model", graph.model.time_ns, times.get(None), graph)


def _check_time(path: str, time: int | None, together: int | None, graph: Graph) -> None:
    if time is not None and time < 0:
        raise GraphError(f"{path}.time_ns", f"expected nanoseconds, got {time}")
    if time != together and not graph.cases:  # of several cases, each node has the time of its first
        raise GraphError(f"{path}.time_ns", f"expected the sum of the times of the ops inside, {together}, got {time}")


def _check_parameter(graph: Graph, path: str, name: str) -> None:
    if name not in graph.parameters:
        raise GraphError(path, f"no such parameter: {name!r}")


def _ports(call: ModelInfo | ModuleNode) -> dict[str, dict[str, str]]:
    return {"inputs": call.inputs, "outputs": call.outputs}


def _check_tensor_names(graph: Graph, path: str, named: dict[str, dict[str, str]]) -> None:
    for key, names in named.items():
        for name, tensor in names.items():
            if tensor not in graph.tensors:
                raise GraphError(f"{path}.{key}[{name!r}]", f"no such tensor: {tensor!r}")
