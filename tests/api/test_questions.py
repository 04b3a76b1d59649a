"""Questions about graphs: as functions, as a command, and by a client of the Model Context Protocol."""

from __future__ import annotations

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mcp
import networkx as nx
import pytest
import torch
from click.testing import CliRunner
from mcp.client.stdio import StdioServerParameters
from torch import nn

import modeldiagrams
from modeldiagrams.api.agent_server import make_server
from modeldiagrams.api.questions import find_path, find_uses, list_costs
from modeldiagrams.cli import main
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.graph import ModuleNode

GOLDEN = Path(__file__).parents[1] / "golden"


class Tied(nn.Module):
    """An embedding whose weight is also that of the output layer, and a layer beside."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.out, self.beside = nn.Embedding(10, 4), nn.Linear(4, 10, bias=False), nn.Linear(4, 4)
        self.out.weight = self.embed.weight
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Embed, and go two ways."""
        x = self.embed(ids)
        return self.out(x * self.scale), self.beside(x)


@pytest.fixture(scope="module")
def graph():
    return modeldiagrams.trace(Tied(), (torch.zeros(1, 3, dtype=torch.long),))


@pytest.mark.parametrize("name", ["nested", "repeated", "in_place"])
def test_paths_are_those_of_networkx(name):
    """networkx finds its own shortest paths in the edges of the file."""
    graph = modeldiagrams.load(GOLDEN / f"{name}.json")
    edges = nx.DiGraph([(source, edge.to) for source, found in graph.adjacency.items() for edge in found])
    nodes = [node.id for node in graph.nodes if not isinstance(node, ModuleNode) and node.id in edges]
    for source in nodes:
        for target in nodes:
            found = find_path(graph, source, target)["shortest"]
            if source == target or not nx.has_path(edges, source, target):
                assert found == []
            else:
                assert len(found) == nx.shortest_path_length(edges, source, target) + 1
                assert nx.is_path(edges, found)
                assert (found[0], found[-1]) == (source, target)


def test_ends_may_be_modules_and_patterns(graph):
    found = find_path(graph, "input:ids", "out")
    assert found["shortest"][0] == "input:ids"
    assert found["shortest"][-1] == "out/linear"
    assert find_path(graph, "ids", "beside")["source"] == "input:ids"
    assert find_path(graph, "out", "beside") == {"source": "out", "target": "beside", "shortest": [], "between": []}
    with pytest.raises(GraphError, match="2 nodes match"):
        find_path(graph, "Linear", "out")


def test_uses_of_tied_and_bare_weights(graph):
    assert find_uses(graph, "embed.weight")["modules"] == ["embed", "out"]
    assert find_uses(graph, "out.weight")["ops"] == find_uses(graph, "embed.weight")["ops"]
    assert find_uses(graph, "scale")["ops"] == ["/mul"]
    with pytest.raises(GraphError, match=r"did you mean 'embed\.weight'"):
        find_uses(graph, "embed.weigt")


def test_costs_are_those_of_torch(graph):
    found = list_costs(graph, depth=1)
    assert found["parameters"] == sum(weight.numel() for weight in Tied().parameters())
    own = {row["path"]: row["parameters"] for row in found["modules"]}
    assert own == {name: sum(p.numel() for p in module.parameters()) for name, module in Tied().named_children()}


@pytest.mark.parametrize(
    ("words", "status", "key"),
    [
        (["path", "ids", "out"], 0, "between"),
        (["path", "out", "beside"], 1, "between"),
        (["uses", "scale"], 0, "ops"),
        (["find", "Linear"], 0, "nodes"),
        (["find", "Conv2d"], 1, "nodes"),
        (["costs", "1"], 0, "modules"),
        (["changes", "{file}"], 0, "changes"),
        (["changes", str(GOLDEN / "nested.json")], 1, "changes"),
    ],
)
def test_command_answers_as_json_with_a_status(graph, tmp_path, words, status, key):
    file = tmp_path / "tied.json"
    modeldiagrams.save(graph, file)
    done = CliRunner().invoke(main, ["ask", str(file), *(word.format(file=file) for word in words)])
    assert done.exit_code == status, done.output
    assert key in json.loads(done.output)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["path", "ids"], "expected `ask GRAPH path SOURCE TARGET`, got 1 words"),
        (["costs", "many"], "expected a number of module levels, got 'many'"),
        (["path", "input:idz", "out"], "no node has this id; did you mean"),
    ],
)
def test_wrong_questions(graph, tmp_path, words, message):
    modeldiagrams.save(graph, tmp_path / "tied.json")
    done = CliRunner().invoke(main, ["ask", str(tmp_path / "tied.json"), *words])
    assert done.exit_code == 2
    assert message in done.output


def call(client_of, *calls):
    """Call tools of a server; return texts, and the structured results."""

    async def run():
        async with mcp.Client(client_of) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in calls]

    # in a thread, because Playwright's loop may run in this one
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(lambda: asyncio.run(asyncio.wait_for(run(), 120))).result()


def test_agents_read_graphs_and_nothing_else(graph, tmp_path):
    modeldiagrams.save(graph, tmp_path / "tied.json")
    (tmp_path / "index.json").write_text("{}", "utf-8")
    (tmp_path.parent / "outside.json").write_bytes((tmp_path / "tied.json").read_bytes())
    tools, results = call(
        make_server(tmp_path),
        ("list_graphs", {}),
        ("describe_graph", {"graph": "tied"}),
        ("find_path", {"graph": "tied", "source": "ids", "target": "out"}),
        ("find_weight_uses", {"graph": "tied", "weight": "scale"}),
        ("list_costs", {"graph": "tied"}),
        ("list_changes", {"before": "tied", "after": "tied"}),
        ("describe_graph", {"graph": "../outside"}),
        ("find_path", {"graph": "tied", "source": "idz", "target": "out"}),
        ("list_costs", {"graph": "tied", "depth": -1}),
    )
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert results[0].structured_content == {"result": ["tied"]}
    assert results[1].content[0].text == modeldiagrams.describe(graph)
    assert results[2].structured_content == find_path(graph, "ids", "out")
    assert results[3].structured_content["ops"] == ["/mul"]
    assert results[5].structured_content["same"] is True
    assert [result.is_error for result in results] == [False] * 6 + [True] * 3
    assert "there is no such graph; expected one of tied" in results[6].content[0].text
    assert "expected a number of module levels, got -1" in results[8].content[0].text


@pytest.mark.parametrize("endings", [(".json", ".json.gz"), (".json.gz", ".json")])
def test_only_graphs_are_listed_and_the_plain_file_counts(graph, tmp_path, endings):
    for ending in endings:
        kept = graph if ending == ".json" else modeldiagrams.load(GOLDEN / "nested.json")
        modeldiagrams.save(kept, tmp_path / f"tied{ending}")
    modeldiagrams.save(graph, tmp_path / "packed.json.gz")
    others = {"package.json": '{"name": "x"}', "list.json": "[1]", "deep.json": "[" * 100_000, "empty.json.gz": ""}
    for name, text in others.items():
        (tmp_path / name).write_text(text, "utf-8")
    _, results = call(make_server(tmp_path), ("list_graphs", {}), ("describe_graph", {"graph": "tied"}))
    assert results[0].structured_content == {"result": ["packed", "tied"]}
    assert results[1].content[0].text == modeldiagrams.describe(graph)


def test_the_command_serves_on_stdin_and_stdout(graph, tmp_path):
    modeldiagrams.save(graph, tmp_path / "tied.json")
    command = StdioServerParameters(command=sys.executable, args=["-m", "modeldiagrams", "mcp", str(tmp_path)])
    _, (result,) = call(mcp.stdio_client(command), ("list_graphs", {}))
    assert result.structured_content == {"result": ["tied"]}
