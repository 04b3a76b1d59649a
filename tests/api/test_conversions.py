"""Graphs for other tools: what Graphviz, Mermaid and networkx get, hostile names included."""

from __future__ import annotations

import importlib
import re
import sys
import time
from collections import Counter
from pathlib import Path

import msgspec
import networkx as nx
import pytest
import torch
from torch import nn

import modeldiagrams
from graphs import hostile_graph, nested_graph, small_graph
from modeldiagrams import OptionError, RenderError, load, to_dot, to_mermaid, to_networkx, to_pandas, to_svg, trace
from modeldiagrams.api.export import write
from modeldiagrams.api.nested_text import to_plain_ids
from modeldiagrams.ir.check import check_graph

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.json"))
GRAPHS = [*map(load, GOLDEN), hostile_graph(), nested_graph(deep=4, wide=3)]
DEPTHS = [0, 1, 2, 1000]


def closed(graph, depth) -> set[str]:
    """Ids of what is not an open module."""
    shown = graph.shown(depth)
    opened = {graph.hierarchy[name] for name in shown.values()}
    return set(shown.values()) - opened


def test_hostile_graph_is_consistent():
    check_graph(hostile_graph())


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_networkx_has_visible_nodes_and_tensors(graph, depth):
    made = to_networkx(graph, depth=depth)
    assert set(made) == closed(graph, depth)
    found = Counter((a, b, data["tensor"], data["flow"]) for a, b, data in made.edges(data=True))
    expected = Counter((c.source, c.target, tensor, c.flow) for c in graph.connections(depth) for tensor in c.tensors)
    assert found == expected
    assert nx.is_directed_acyclic_graph(to_networkx(graph))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 4))

    def forward(self, x):
        return x + self.b(self.a(x)).sin()


@pytest.fixture(scope="module")
def blocks():
    """Blocks of different widths, so that no picture rolls them."""
    return trace(nn.Sequential(*map(Block, (5, 6, 7)), nn.Sequential(Block(3), nn.Linear(4, 2))), (torch.zeros(1, 4),))


@pytest.mark.parametrize(
    "view",
    [
        {"depth": 1},
        {"depth": 0, "expand": ["*.b", "0"]},
        {"depth": 2, "collapse": "1, *.b"},
        {"expand": ["3.0.b"]},
        {"expand": "Block", "collapse": ["2"]},
    ],
)
def test_same_modules_are_open_as_in_the_picture(blocks, view):
    opened = set(re.findall('data-id="([^"]*)" aria-expanded="true"', to_svg(blocks, **view)))
    assert opened
    shown = {node.id for node in blocks.nodes if (blocks.hierarchy[node.id] or "") in {"", *opened}} - opened
    assert set(to_networkx(blocks, **view)) == shown
    assert to_dot(blocks, **view).source.count("subgraph ") == len(opened)
    assert to_mermaid(blocks, **view).count("subgraph ") == len(opened)


def doubled(x):
    return x.sin() * 2 + x.cos()


class Doubled(nn.Module):
    def forward(self, x):
        return doubled(doubled(x)) + 1


@pytest.mark.parametrize(
    ("view", "boxes", "groups"),
    [
        ({}, {"/doubled()", "/doubled()#2", "/add#3"}, 0),
        (
            {"expand": ["doubled"]},
            {"/sin", "/mul", "/cos", "/add", "/sin#2", "/mul#2", "/cos#2", "/add#2", "/add#3"},
            2,
        ),
        (
            {"functions": False, "depth": 0},
            {"/sin", "/mul", "/cos", "/add", "/sin#2", "/mul#2", "/cos#2", "/add#2", "/add#3"},
            0,
        ),
    ],
)
def test_functions_are_boxes_as_in_the_picture(view, boxes, groups):
    graph = trace(Doubled(), (torch.zeros(1, 4),))
    terminals = {"input:x", "output:output"}
    assert set(to_networkx(graph, **{"depth": 1, **view})) == boxes | terminals
    assert to_dot(graph, **view).source.count("subgraph ") == groups
    assert to_mermaid(graph, **view).count("subgraph ") == groups
    drawn = set(re.findall('data-id="([^"]*)"', to_svg(graph, **view)))
    assert drawn - set(graph.functions) <= boxes | terminals


class Stages(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.first, self.second = nn.Linear(4, 4), Block(5), Block(6)

    def forward(self, x):
        x = self.embed(x)
        with torch.profiler.record_function("stage"):
            x = self.second(self.first(x)).relu()
        return x + 1


@pytest.mark.parametrize("view", [{"depth": depth} for depth in (0, 1, 2, 3)] + [{"depth": 2, "functions": False}])
def test_scopes_around_modules_open_at_their_depth_as_in_the_picture(view):
    graph = trace(Stages(), (torch.zeros(1, 4),))
    opened = set(re.findall('data-id="([^"]*)" aria-expanded="true"', to_svg(graph, **view)))
    assert to_dot(graph, **view).source.count("subgraph ") == len(opened)
    assert to_mermaid(graph, **view).count("subgraph ") == len(opened)


def test_functions_have_their_kind_and_parent():
    network = to_networkx(trace(nn.Sequential(Doubled()), (torch.zeros(1, 4),)), depth=1)
    assert {network.nodes[f"0/doubled(){call}"]["kind"] for call in ("", "#2")} == {"function"}
    assert network.nodes["0/doubled()"]["parent"] == "0"


def test_expanding_a_function_opens_the_modules_around_it():
    graph = trace(nn.Sequential(nn.Sequential(Doubled())), (torch.zeros(1, 4),))
    view = {"depth": 0, "expand": ["doubled"]}
    opened = set(re.findall('data-id="([^"]*)" aria-expanded="true"', to_svg(graph, **view)))
    assert {"0", "0.0/doubled()"} <= opened  # `0.0` is one box with `0`
    assert {"0.0/sin", "0.0/add#3"} <= set(to_networkx(graph, **view))


class TwoLists(nn.Module):
    """Like a U-Net: modules with equal numbers in two lists."""

    def __init__(self):
        super().__init__()
        self.downs, self.ups = (nn.ModuleList([nn.Linear(4, 4)]) for _ in range(2))

    def forward(self, x):
        return self.ups[0](self.downs[0](x))


def test_labels_name_the_list_that_a_module_is_in():
    graph = trace(TwoLists(), (torch.zeros(1, 4),))
    assert re.findall(r'"(\S+): Linear"', to_mermaid(graph)) == ["downs.0", "ups.0"]
    source = to_dot(graph).source
    assert "downs.0" in source
    assert "ups.0" in source


def test_pattern_without_match_is_reported(blocks, tmp_path):
    for suffix in (".mmd", ".dot", ".svg"):
        unmatched = write(blocks, tmp_path / f"made{suffix}", {"expand": ["Block"], "collapse": ["Blokc"]})
        assert str(unmatched.error(blocks)) == "option `collapse`: no module matches 'Blokc'; did you mean 'Block'?"


def test_rows_of_modules_are_a_table_of_pandas(blocks):
    pandas = importlib.import_module("pandas")
    table = to_pandas(blocks)
    for row in blocks.module_rows():
        assert {name: value for name, value in row.items() if name != "id"} == {
            name: None if value is pandas.NA else value for name, value in table.loc[row["id"]].items()
        }
    assert table.loc["0.a", "flops"] == 32
    assert to_pandas(trace(nn.ReLU(), (torch.zeros(1),))).empty


def test_networkx_without_depth_has_the_edges_of_the_graph():
    made = to_networkx(small_graph())
    assert dict(made.nodes["fc/linear"]) == {
        "kind": "op",
        "parent": "fc",
        "name": "torch.nn.functional.linear",
        "outputs": ("fc/linear:0",),
        "weights": {"weight": "fc.weight"},
        "source": "mypkg.py:7",
    }
    assert next(iter(made.edges(data=True))) == (
        "input:x",
        "fc/linear",
        {"tensor": "input:x:0", "argument": "input", "flow": "data", "shape": (1, 4)},
    )
    assert [*made] == [node.id for node in small_graph().nodes if node.kind != "module"]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_dot_has_every_node_once_and_edges_between_nodes_or_their_ports(graph, depth):
    statements = to_dot(graph, depth=depth).body
    matches = [re.fullmatch(r"\t(?!node |edge )(\w+) \[label=(.*)\]\n", line, re.DOTALL) for line in statements]
    nodes = dict(match.groups() for match in matches if match)
    assert len(nodes) == len(closed(graph, depth))
    edges = [re.match(r"\t(\w+)(?::(\w+))? -> (\w+)(?::(\w+))?[ \n]", line) for line in statements if " -> " in line]
    ends = [end for edge in edges for end in (edge.group(1, 2), edge.group(3, 4))]
    assert len(ends) >= 2 * sum(len(connection.tensors) for connection in graph.connections(depth))
    for name, port in ends:
        assert port is None or f'port="{port}"' in nodes[name]
    assert sum("{" in line[-3:] for line in statements) == statements.count("\t}\n")


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_mermaid_has_one_statement_on_each_line(graph, depth):
    lines = to_mermaid(graph, depth=depth, direction="LR").splitlines()
    assert lines[0] == "flowchart LR"
    text = r'"[\w ×….,:=/()\[\]#;]*"'
    statements = [line.strip() for line in lines[1:]]
    nodes = [line for line in statements if re.fullmatch(rf"\w+[(\[]+{text}[)\]]+", line)]
    edges = [line for line in statements if re.fullmatch(rf"\w+ -\.?->(\|{text}\|)? \w+", line)]
    opened = [line for line in statements if re.fullmatch(rf"subgraph \w+\[{text}\]", line)]
    assert len(nodes) == len(closed(graph, depth))
    assert len(edges) == len(graph.connections(depth))
    assert len(opened) == statements.count("end")
    assert len(statements) == len(nodes) + len(edges) + 2 * len(opened)


def test_mermaid_of_a_small_model_is_readable():
    assert (
        to_mermaid(small_graph())
        == """\
flowchart TB
    input_x(["x"])
    fc["fc: Linear"]
    relu("relu")
    output_output(["output"])
    input_x -->|"1×4"| fc
    fc -->|"1×2"| relu
    relu -->|"1×2"| output_output
"""
    )


@pytest.mark.parametrize("graph", GRAPHS)
def test_plain_ids_are_unique_ignoring_case_and_not_reserved(graph):
    ids = to_plain_ids(graph, "end|graph|constructor")
    assert [*ids] == [node.id for node in graph.nodes]
    assert len({plain.lower() for plain in ids.values()}) == len(graph.nodes)
    assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", plain) for plain in ids.values())
    assert not {"end", "graph", "constructor"} & {plain.lower() for plain in ids.values()}


def test_label_contains_the_number_of_the_call():
    graph = small_graph()
    again = msgspec.structs.replace(graph.node("fc"), id="fc#2", call=2)
    twice = msgspec.structs.replace(graph, nodes=(*graph.nodes, again), hierarchy={**graph.hierarchy, "fc#2": None})
    assert 'fc_2["fc (call 2): Linear"]' in to_mermaid(twice)


@pytest.mark.parametrize("shape", [{"deep": 1_500, "wide": 1}, {"deep": 3, "wide": 2_000}], ids=["deep", "wide"])
def test_large_graphs_are_converted_in_seconds(shape):
    graph = nested_graph(**shape)
    start = time.process_time()
    for depth in (1, 1000):
        assert to_dot(graph, depth=depth).source
        assert to_mermaid(graph, depth=depth)
        assert to_networkx(graph, depth=depth)
    assert time.process_time() - start < 10


@pytest.mark.parametrize("convert", [to_dot, to_mermaid])
@pytest.mark.parametrize("wrong", [{"depth": -1}, {"depth": "deep"}, {"direction": "up"}, {"direction": {"*": "LR"}}])
def test_wrong_depth_or_direction_is_an_option_error(convert, wrong):
    with pytest.raises(OptionError, match=next(iter(wrong))):
        convert(small_graph(), **wrong)


@pytest.mark.parametrize(("convert", "library"), [(to_dot, "graphviz"), (to_networkx, "networkx")])
def test_missing_library_error_names_the_extra(convert, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    extra = {"graphviz": "dot"}.get(library, library)
    with pytest.raises(
        RenderError, match=rf'{library}, which can\'t be imported: pip install "modeldiagrams\[{extra}\]"'
    ):
        convert(small_graph())


@pytest.mark.parametrize(
    "function", ["to_svg", "to_png", "to_pdf", "to_html", "to_dot", "to_mermaid", "to_networkx", "to_pandas", "summary"]
)
def test_error_for_other_objects_names_the_function_that_makes_a_graph(function):
    convert = getattr(modeldiagrams, function)
    with pytest.raises(TypeError, match=r"graph: expected a graph, got Linear; make one: modeldiagrams\.trace\(model"):
        convert(torch.nn.Linear(2, 2))
    with pytest.raises(TypeError, match=r"got str; make one: modeldiagrams\.load\('net\.json'\)"):
        convert("net.json")
