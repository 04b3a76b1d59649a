"""The format: what `check_graph` rejects, and the JSON path that it names."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import Edge, Failure, Frame, FunctionCall, Graph, Guess, OpNode, Status

replace = msgspec.structs.replace


def test_consistent_graph_passes() -> None:
    check_graph(small_graph())


def test_top_level_keys_have_the_published_order() -> None:
    assert list(msgspec.to_builtins(small_graph())) == [
        "format",
        "version",
        "model",
        "nodes",
        "adjacency",
        "hierarchy",
        "tensors",
        "parameters",
        "functions",
        "status",
        "assumptions",
        "ways",
        "uncalled",
        "cases",
        "sizes",
        "samples",
        "provenance",
    ]


def with_functions(*functions: FunctionCall, **scopes: str) -> Graph:
    """The small graph with function calls, and ops in them, by short name."""
    graph = small_graph()
    nodes = tuple(
        replace(node, scope=scopes[node.id.rpartition("/")[2]]) if node.id.rpartition("/")[2] in scopes else node
        for node in graph.nodes
    )
    return replace(graph, nodes=nodes, functions={function.id: function for function in functions})


def test_function_calls_around_ops_pass() -> None:
    outer, inner = FunctionCall(id="/f()", name="f"), FunctionCall(id="/g()", name="g", parent="/f()")
    check_graph(with_functions(outer, inner, relu="/g()"))


def interrupted_function() -> Graph:
    """`fc` and an op at the end are in a function, `relu` between them isn't."""
    graph = with_functions(FunctionCall(id="/f()", name="f"), fc="/f()")
    last = OpNode(id="/add", name="torch.add", scope="/f()")
    return replace(graph, nodes=(*graph.nodes, last), hierarchy={**graph.hierarchy, "/add": None})


def with_edge(graph: Graph, source: str, edge: Edge) -> Graph:
    return replace(graph, adjacency={**graph.adjacency, source: (edge,)})


def broken_functions() -> list[Any]:
    return [
        pytest.param(with_functions(relu="/f()"), "$.nodes[3].scope", id="unknown-function"),
        pytest.param(
            with_functions(FunctionCall(id="/f()", name="f"), linear="/f()"),
            "$.nodes[2].scope",
            id="function-in-another-module",
        ),
        pytest.param(
            with_functions(FunctionCall(id="/f()", name="f", parent="/g()"), FunctionCall(id="/g()", name="g")),
            "$.functions['/f()'].parent",
            id="function-before-the-one-around-it",
        ),
        pytest.param(with_functions(FunctionCall(id="/relu", name="f")), "$.functions['/relu'].id", id="id-of-a-node"),
        pytest.param(
            with_functions(FunctionCall(id="/f()", name="f"), FunctionCall(id="/g()", name="g"), relu="/f()"),
            "$.functions['/g()']",
            id="function-of-nothing",
        ),
        pytest.param(
            interrupted_function(),
            "$.functions['/f()']",
            id="function-in-two-places",
        ),
    ]


def broken_graphs() -> list[Any]:
    graph = small_graph()
    nodes = graph.nodes
    failure = Failure(type="ValueError", message="no", node="/gone", frames=(Frame(file="a.py", line=1, function="f"),))
    partial = Status(state="partial", mode="real", error=failure)
    return [
        pytest.param(replace(graph, nodes=(*nodes, nodes[0])), "$.nodes[5].id", id="id-twice"),
        pytest.param(replace(graph, tensors={}), "$.nodes[0].outputs[0]", id="unknown-tensor"),
        pytest.param(
            replace(graph, tensors={**graph.tensors, "lost:0": graph.tensors["fc/linear:0"]}),
            "$.tensors['lost:0']",
            id="tensor-without-producer",
        ),
        pytest.param(replace(graph, nodes=nodes[:-1]), "$.hierarchy['output:output']", id="parent-of-nothing"),
        pytest.param(
            replace(graph, hierarchy={**graph.hierarchy, "fc/linear": "gone"}),
            "$.hierarchy['fc/linear']",
            id="unknown-parent",
        ),
        pytest.param(
            replace(graph, hierarchy={**graph.hierarchy, "fc": "fc"}), "$.hierarchy['fc']", id="its-own-parent"
        ),
        pytest.param(
            with_edge(graph, "fc", Edge(to="/relu", tensor="fc/linear:0")), "$.adjacency['fc']", id="edge-from-module"
        ),
        pytest.param(
            with_edge(graph, "/relu", Edge(to="fc/linear", tensor="/relu:0")),
            "$.adjacency['/relu'][0].to",
            id="edge-backwards",
        ),
        pytest.param(
            with_edge(graph, "/relu", Edge(to="output:output", tensor="fc/linear:0")),
            "$.adjacency['/relu'][0].tensor",
            id="edge-with-a-foreign-tensor",
        ),
        *broken_functions(),
        pytest.param(replace(graph, parameters={}), "$.nodes[2].weights['weight']", id="unknown-weight"),
        pytest.param(replace(graph, status=Status(state="partial")), "$.status", id="partial-without-error"),
        pytest.param(
            replace(graph, status=Status(state="complete", guesses=(Guess(node="/gone", value=1, reason=""),))),
            "$.status.guesses[0].node",
            id="guess-of-unknown-node",
        ),
        pytest.param(replace(graph, status=partial), "$.status.error.node", id="error-at-unknown-node"),
    ]


@pytest.mark.parametrize(("graph", "path"), broken_graphs())
def test_check_names_the_path_of_the_broken_reference(graph: Graph, path: str) -> None:
    with pytest.raises(GraphError) as caught:
        check_graph(graph)
    assert caught.value.path == path


def with_times(whole: int | None = 7, **times: int | None) -> Graph:
    """The small graph in which nodes and functions take so long, by id without punctuation."""
    graph = with_functions(FunctionCall(id="/f()", name="f"), relu="/f()")
    of = {"".join(filter(str.isalnum, name)): name for name in (*(node.id for node in graph.nodes), *graph.functions)}
    given = {of[name]: time for name, time in times.items()}
    return replace(
        graph,
        model=replace(graph.model, time_ns=whole),
        nodes=tuple(replace(node, time_ns=given[node.id]) if node.id in given else node for node in graph.nodes),
        functions={name: replace(call, time_ns=given.get(name)) for name, call in graph.functions.items()},
    )


def test_times_that_add_up_pass() -> None:
    check_graph(with_times(fclinear=3, fc=3, relu=4, f=4))
    check_graph(with_times(4, relu=4, f=4))


@pytest.mark.parametrize(
    ("graph", "path"),
    [
        (with_times(fclinear=3, fc=2, relu=4, f=4), "$.nodes[1].time_ns"),
        (with_times(fclinear=3, relu=4, f=4), "$.nodes[1].time_ns"),
        (with_times(fclinear=3, fc=3, relu=4), "$.functions['/f()'].time_ns"),
        (with_times(8, fclinear=3, fc=3, relu=4, f=4), "$.model.time_ns"),
        (with_times(None, fclinear=3, fc=3, relu=4, f=4), "$.model.time_ns"),
        (with_times(1), "$.model.time_ns"),
        (with_times(-1, relu=-1, f=-1), "$.nodes[3].time_ns"),
    ],
)
def test_times_that_do_not_add_up_are_named(graph: Graph, path: str) -> None:
    with pytest.raises(GraphError) as caught:
        check_graph(graph)
    assert caught.value.path == path
