"""READMEs, questions and numbers of real models: what readers see, against networkx, PyTorch and Markdown renderers."""

from __future__ import annotations

import random
from pathlib import Path

import networkx as nx
import pytest
import torch
from click.testing import CliRunner

import modeldiagrams
from gallery_models import MODELS
from modeldiagrams.api.questions import find_path, find_uses, list_costs
from modeldiagrams.cli import main
from modeldiagrams.ir.graph import Graph, ModuleNode
from modeldiagrams.ir.serialize import save
from modeldiagrams.overlay.annotate import resolve
from modeldiagrams.overlay.number_files import read_numbers
from readme_pages import check_svg, shown_by_github, shown_by_pypi


@pytest.fixture(scope="module", params=MODELS)
def traced(request) -> tuple[torch.nn.Module, Graph]:
    case = MODELS[request.param]
    model = case.make().eval()
    return model, modeldiagrams.trace(model, (), case.inputs)


def test_readme(traced, tmp_path: Path, monkeypatch) -> None:
    model, graph = traced
    monkeypatch.chdir(tmp_path)
    save(graph, tmp_path / "net.json")
    readme = tmp_path / "README.md"
    readme.write_text(
        "# Nets\r\n\r\n<!-- model-graph: net.json width=300 -->\r\n<!-- /model-graph -->\r\nEnd.\r\n", "utf-8"
    )
    assert CliRunner().invoke(main, ["readme", "README.md"]).exit_code == 0
    text = readme.read_bytes().decode()
    assert text.count("\n") == text.count("\r\n")
    assert text.endswith("<!-- /model-graph -->\r\nEnd.\r\n")
    (_, dark), (_, light) = shown_by_github(text)
    assert light["alt"].startswith(f"Architecture of {type(model).__name__}")
    for address in (dark["srcset"], light["src"]):
        check_svg(tmp_path / address)
    assert [values["src"] for tag, values in shown_by_pypi(text) if tag == "img"] == [light["src"]]
    assert CliRunner().invoke(main, ["readme", "--check", "README.md"]).exit_code == 0


def test_paths_and_uses(traced) -> None:
    model, graph = traced
    flow = nx.DiGraph((source, edge.to) for source, found in graph.adjacency.items() for edge in found)
    nodes = [node.id for node in graph.nodes if not isinstance(node, ModuleNode) and node.id in flow]
    chosen = random.Random(len(nodes))  # noqa: S311  (no secret)
    for source, target in (chosen.sample(nodes, 2) for _ in range(200)):
        found = find_path(graph, source, target)
        if not nx.has_path(flow, source, target):
            assert found["shortest"] == found["between"] == []
            continue
        assert nx.is_path(flow, found["shortest"])
        assert len(found["shortest"]) == 1 + nx.shortest_path_length(flow, source, target)
        between = (nx.descendants(flow, source) | {source}) & (nx.ancestors(flow, target) | {target})
        assert {*found["between"]} == between
    for name, weight in model.named_parameters():
        uses = find_uses(graph, name)
        assert uses["shape"] == tuple(weight.shape)
        tied = {other for other, one in model.named_parameters(remove_duplicate=False) if one is weight}
        assert {name, *uses["tied"]} == tied


def test_costs_and_numbers(traced) -> None:
    model, graph = traced
    counts = {name: sum(one.numel() for one in module.parameters()) for name, module in model.named_modules()}
    costs = list_costs(graph)
    assert costs["parameters"] == counts[""]
    assert {row["path"]: row["parameters"] for row in costs["modules"]}.items() <= counts.items()
    (numbers,) = resolve(graph, {"values": read_numbers(counts)})[0].numbers
    paths = {node.id: node.path for node in graph.nodes if isinstance(node, ModuleNode)}
    assert numbers.values == {name: counts[path] for name, path in paths.items()}
    assert (numbers.named, numbers.unnamed) == (len(paths), 0)
    never = {name for name in counts if not any(f"{path}.".startswith(f"{name}.") for path in ("", *paths.values()))}
    assert numbers.unmatched_count == len(never - {""})
    called = {"name": "Weights", "values": {path: counts[path] for path in paths.values()}}
    assert "Weights" in modeldiagrams.to_svg(graph, values=called)
