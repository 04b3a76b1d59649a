"""Questions to a graph, answered a second time by networkx, by Python's own matching and by the ids."""

from __future__ import annotations

import doctest
import fnmatch
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import networkx as nx
import pytest
from torch import nn

from graphs import nested_graph, small_graph
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import FunctionCall, Graph, ModuleNode
from modeldiagrams.ir.serialize import deserialize, load, serialize

ROOT = Path(__file__).parents[2]
GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.json"))


@pytest.fixture(params=GOLDEN, ids=lambda path: path.stem)
def graph(request) -> Graph:
    return load(request.param)


def networks(graph: Graph) -> tuple[nx.DiGraph, nx.DiGraph]:
    """Parents with their children, and the flow of tensors."""
    tree = nx.DiGraph((graph.hierarchy[node.id] or "", node.id) for node in graph.nodes)
    flow = nx.DiGraph((source, edge.to) for source, edges in graph.adjacency.items() for edge in edges)
    flow.add_nodes_from(node.id for node in graph.nodes)
    return tree, flow


def ids(nodes) -> list[str]:
    return [node.id for node in nodes]


def in_order(graph: Graph, wanted: set[str]) -> list[str]:
    return [node.id for node in graph.nodes if node.id in wanted]


def test_nodes_have_the_kind_that_the_file_says(graph):
    read = deserialize(serialize(graph))
    assert {node.kind for node in read.nodes} == {node.__struct_config__.tag for node in graph.nodes}
    assert [node.kind for node in small_graph().nodes] == ["input", "module", "op", "op", "output"]
    assert read == graph


def with_functions() -> Graph:
    """The small graph: `linear` of `fc` is in no function, `relu` in `g`, which is in `f`."""
    graph = small_graph()
    calls = [
        FunctionCall(id="/f()", name="f", function="pkg.f"),
        FunctionCall(id="/g()", name="g", function="pkg.g", parent="/f()"),
    ]
    nodes = tuple(msgspec.structs.replace(n, scope="/g()") if n.id == "/relu" else n for n in graph.nodes)
    return msgspec.structs.replace(graph, nodes=nodes, functions={call.id: call for call in calls})


def test_calls_of_functions_are_no_module_calls():
    graph = with_functions()
    check_graph(graph)
    assert [call.kind for call in graph.function_calls()] == ["function", "function"]
    assert [ids(graph.function_calls(wanted)) for wanted in ("g", "pkg.*", "/f()", "fc")] == [
        ["/g()"],
        ["/f()", "/g()"],
        ["/f()"],
        [],
    ]
    assert ids(graph.functions_around("/relu")) == ids(graph.functions_around(graph.node("/relu"))) == ["/g()", "/f()"]
    assert ids(graph.functions_around("/g()")) == ["/f()"]
    assert graph.functions_around("fc/linear") == graph.functions_around("input:x") == ()
    assert ids(graph.module_calls()) == ["fc"]
    assert graph.parent("/relu") is None


def test_functions_stand_for_their_ops_if_asked():
    graph = with_functions()
    ends = [(c.source, c.target) for c in graph.connections(functions=True)]
    assert ends == [("input:x", "fc"), ("fc", "/f()"), ("/f()", "output:output")]
    assert graph.shown(0, functions=True, expand=["f"])["/relu"] == "/g()"
    assert graph.shown(None, functions=True)["/relu"] == "/relu"
    assert graph.shown(None, functions=True, collapse=["g"])["/relu"] == "/g()"
    assert graph.shown(0)["/relu"] == "/relu"


def test_node_is_found_by_id_or_path_and_an_error_names_the_nearest(graph):
    assert [graph.node(node.id) for node in graph.nodes] == [*graph.nodes]
    with pytest.raises(GraphError, match=r"fc/linaer: no node has this id; did you mean 'fc/linear'\?"):
        small_graph().node("fc/linaer")
    for ask in (Graph.parent, Graph.ancestors, Graph.children, Graph.descendants):
        with pytest.raises(GraphError, match="gone"):
            ask(graph, "gone")


def test_families_are_those_of_the_tree(graph):
    tree, _ = networks(graph)
    assert ids(graph.children()) == in_order(graph, set(tree.successors("")))
    for node in graph.nodes:
        above = nx.ancestors(tree, node.id) - {""}
        assert set(ids(graph.ancestors(node))) == above
        assert ids(graph.ancestors(node))[:1] == ids(filter(None, [graph.parent(node.id)]))
        assert ids(graph.children(node)) == in_order(graph, set(tree.successors(node.id)))
        assert ids(graph.descendants(node)) == in_order(graph, nx.descendants(tree, node.id))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("fc", ["fc"]),
        ("Linear", ["fc"]),
        ("torch.nn.modules.linear.Linear", ["fc"]),
        ("torch.nn.*", ["fc"]),
        ("f?", ["fc"]),
        ("f", []),
        ("*", ["fc"]),
        ("linear", []),
        ("[f]c", []),
        ("f.", []),
    ],
)
def test_patterns_follow_the_rule_of_the_viewer(pattern, expected):
    assert ids(small_graph().module_calls(pattern)) == expected


def test_any_of_several_patterns_matches(graph):
    calls = graph.module_calls()
    assert ids(calls) == [node.id for node in graph.nodes if node.kind == "module"]
    for patterns in (["*.0", "*1"], ["Linear", "ReLU"], ["?*"]):
        matched = [call for call in calls if any(_matches(call, pattern) for pattern in patterns)]
        assert graph.module_calls(*patterns) == tuple(matched)


def test_classes_match_their_own_calls(graph):
    class Linear:
        pass

    linear = graph.module_calls("torch.nn.modules.linear.Linear")
    assert graph.module_calls(nn.Linear) == linear
    assert graph.module_calls(Linear) == ()
    assert ids(graph.module_calls(nn.Linear, "*.0")) == [
        call.id for call in graph.module_calls() if call in linear or call.path.endswith(".0")
    ]


def _matches(call: ModuleNode, pattern: str) -> bool:
    names = (call.path, call.class_, call.class_.rpartition(".")[2])
    return any(fnmatch.fnmatchcase(name, pattern) for name in names)


def test_what_leads_from_one_node_to_another_is_on_a_path(graph):
    _, flow = networks(graph)
    for source in graph.nodes:
        starts = {source.id, *ids(graph.descendants(source))}
        after = starts.union(*(nx.descendants(flow, start) for start in starts))
        for target in graph.nodes:
            ends = {target.id, *ids(graph.descendants(target))}
            before = ends.union(*(nx.ancestors(flow, end) for end in ends))
            on_a_path = {name for name in after & before if graph.node(name).kind != "module"}
            assert ids(graph.between(source, target.id)) == in_order(graph, on_a_path)


@pytest.mark.parametrize("depth", [0, 1, 2, None])
def test_connections_are_the_edges_of_the_graph_with_closed_modules_contracted(graph, depth):
    shown = {node.id: _shown(graph, node.id, depth) for node in graph.nodes}
    assert graph.shown(depth) == shown
    expected = {
        (shown[source], shown[edge.to], edge.tensor, edge.flow)
        for source, edges in graph.adjacency.items()
        for edge in edges
        if shown[source] != shown[edge.to]
    }
    found = [(c.source, c.target, tensor, c.flow) for c in graph.connections(depth) for tensor in c.tensors]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("option", ["expand", "collapse"])
def test_patterns_may_be_one_text(option):
    """Its letters are no patterns: `*` alone would be every module."""
    graph, depth = nested_graph(deep=3, wide=2), 0 if option == "expand" else None
    modules = [node.id for node in graph.module_calls()]
    for text, patterns in (("*.nothing", ["*.nothing"]), (f"{modules[0]}, {modules[-1]}", [modules[0], modules[-1]])):
        assert graph.shown(depth, **{option: text}) == graph.shown(depth, **{option: patterns})
    assert graph.shown(depth, **{option: "*.nothing"}) == graph.shown(depth) != graph.shown(depth, **{option: "*"})


def _shown(graph: Graph, name: str, depth: int | None) -> str:
    """The outermost closed module around a node, or the node itself."""
    chain = [*reversed(ids(graph.ancestors(name))), name]
    for level, outer in enumerate(chain[:-1], 1):
        inside = graph.children(outer)
        if (depth is not None and level > depth) or (len(inside) == 1 and inside[0].kind != "module"):
            return outer
    return name


def test_rows_of_modules_add_up_to_the_model():
    row = small_graph().module_rows()[0]
    assert row == {
        "id": "fc",
        "path": "fc",
        "call": 1,
        "class_name": "Linear",
        "level": 1,
        "parameters": 8,
        "own_parameters": 8,
        "trainable_parameters": 8,
        "flops": None,
        "activation_bytes": None,
        "time_ns": None,
        "inputs": {"input": (1, 4)},
        "outputs": {"output": (1, 2)},
    }
    for path in GOLDEN:
        graph = load(path)
        first_calls = [row for row in graph.module_rows() if row["call"] == 1]
        model = graph.model.parameters
        assert sum(row["own_parameters"] for row in first_calls) + model.own <= model.total
        assert [row["level"] for row in graph.module_rows()] == [
            len(graph.ancestors(row["id"])) + 1 for row in graph.module_rows()
        ]


@pytest.mark.parametrize("shape", [{"deep": 3_000, "wide": 1}, {"deep": 3, "wide": 2_500}], ids=["deep", "wide"])
def test_large_graphs_take_seconds(shape):
    graph = nested_graph(**shape)
    check_graph(graph)
    start = time.process_time()
    assert graph.connections(None) == graph.connections(10**6)
    assert len(graph.connections(None)) == 2 * shape["wide"] + 1
    assert len(graph.between("input:x", "output:y")) == 2 + sum(node.kind == "op" for node in graph.nodes)
    for row in graph.module_rows():
        graph.node(row["id"])
        graph.children(row["id"])
    assert len(graph.descendants(graph.nodes[1])) == shape["deep"] + 1
    assert len(graph.ancestors(graph.nodes[-2])) == shape["deep"]
    assert time.process_time() - start < 5


def test_a_graph_with_answers_is_still_plain_data():
    asked = small_graph()
    asked.children()
    assert asked == small_graph()
    assert serialize(asked) == serialize(small_graph())


def python_examples() -> Iterator[tuple[str, str]]:
    for page in (ROOT / "docs" / "pages").rglob("*.md"):
        text = page.read_text("utf-8")
        if ">>> " in text:
            yield page.stem, text.replace("```\n", "\n")  # else the fence would be expected output


@pytest.mark.parametrize(("name", "text"), [pytest.param(*page, id=page[0]) for page in python_examples()])
def test_examples_of_the_documentation_give_what_they_say(name, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert test.examples
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(test, out=report.append)
    assert not report, "".join(report)
