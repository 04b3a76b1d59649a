"""The option `values` of pages and commands: files beside the page, and their mistakes."""

from __future__ import annotations

import json

import msgspec
import pytest
from click.testing import CliRunner

from graphs import small_graph
from modeldiagrams.cli import main
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.compare.sides import graph_of
from modeldiagrams.engine.diagram_ids import name_snapshot
from modeldiagrams.engine.snapshots import _update
from modeldiagrams.hosting.host import draw
from modeldiagrams.html.fragment import build_data_script, render_fragment
from modeldiagrams.ir.samples import Samples, TensorSample
from modeldiagrams.ir.serialize import save
from modeldiagrams.ir.structure import structural_digest
from modeldiagrams.markdown.fence_host import FenceHost
from modeldiagrams.options.parsing import parse_option


@pytest.fixture
def host(tmp_path):
    save(small_graph(), tmp_path / "net.json")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "errors.json").write_text(json.dumps({"fc": 1, "gone": 2}))
    (tmp_path / "times.csv").write_text("node,time (ms)\nrelu,3\n")
    with DiagramBuilder(tmp_path / "cache", folder=tmp_path) as builder:
        host = FenceHost(builder)
        host.path = "pages/one.md"
        yield host


@pytest.mark.parametrize("written", ["[errors.json, /times.csv]", "errors.json, /times.csv"])
def test_files_are_relative_to_the_page(host, tmp_path, written):
    diagram = draw(host, {"model": "/net.json", "values": written}, "")
    assert [(one.name, one.unit, one.values) for one in diagram.overlay.numbers] == [
        ("errors", "", {"fc": 1.0}),
        ("time", "ms", {"/relu": 3.0}),
    ]
    assert {str(tmp_path / "pages" / "errors.json"), str(tmp_path / "times.csv")} <= {*diagram.sources}
    assert diagram.problem.kind == "option"
    assert "errors: no node is named 'gone'" in diagram.problem.message
    assert 'class="mg-bar"' in render_fragment(diagram, assets="../modeldiagrams/")
    assert build_data_script(diagram)


def test_a_page_may_have_the_numbers_themselves(host):
    body = "model: /net.json\nvalues:\n  name: Share\n  format: .0%\n  values: {fc: 1e-1, '*elu': .nan}"
    diagram = draw(host, {}, body)
    assert diagram.problem is None
    (found,) = diagram.overlay.numbers
    assert (found.name, found.values, found.missing) == ("Share", {"fc": 0.1}, 1)
    svg = diagram.picture.svg
    assert ">10 %<" in svg
    assert "NaN or infinite: 1." in svg


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("lost.json", "option `values`: pages/lost.json: No such file"),
        ("{fc: high}", "option `values`: 'fc': expected a number, got 'high'"),
        ("[3]", "option `values`: expected `sample`, files, or a map from patterns to numbers, got '[3]'"),
        ("{fc: 1", "option `values`: is not valid YAML"),
    ],
)
def test_a_mistake_is_a_problem_of_its_diagram(host, values, message):
    diagram = draw(host, {"model": "/net.json", "values": values}, "")
    assert diagram.problem.kind == "option"
    assert message in diagram.problem.message


def test_options_read_maps_and_names():
    assert parse_option("values", "{0: 1}") == parse_option("values", {0: 1}) == [{"0": 1}]
    assert parse_option("values", "a.json") == ["a.json"]


def test_commands_have_the_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(small_graph(), tmp_path / "net.json")
    (tmp_path / "v.json").write_text('{"fc": 1, "gone": 2}')
    done = CliRunner().invoke(main, ["render", "net.json", "--values", "v.json", "-o", "net.svg"])
    assert done.exit_code == 0, done.output
    assert "Warning: option `values`: v: no node is named 'gone'" in done.output
    assert 'class="mg-bar"' in (tmp_path / "net.svg").read_text("utf-8")


@pytest.mark.parametrize("values", ['{"fc": "x"}', '{"fc": [1]}', "{", "3", None])
def test_commands_write_nothing_if_numbers_cannot_be_read(tmp_path, monkeypatch, values):
    monkeypatch.chdir(tmp_path)
    save(small_graph(), tmp_path / "net.json")
    (tmp_path / "net.svg").write_text("earlier")
    if values is not None:
        (tmp_path / "v.json").write_text(values)
    done = CliRunner().invoke(main, ["render", "net.json", "--values", "v.json", "-o", "net.svg"])
    assert done.exit_code == 2
    (line,) = done.output.splitlines()
    assert line.startswith("Error: option `values`: v.json: ")
    assert (tmp_path / "net.svg").read_text() == "earlier"


NET = """\
import torch

def given():
    return torch.arange(6.0).reshape(1, 6) - 2

class Sampled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.pick = torch.nn.ReLU()

    def forward(self, x):
        return self.pick(x) * 2
"""


def test_what_flows_is_sampled_and_kept_in_snapshots(tmp_path):
    (tmp_path / "sampled_net.py").write_text(NET)
    options = {"model": "sampled_net.Sampled", "inputs_from": "sampled_net.given", "values": "sample"}
    with DiagramBuilder(None, folder=tmp_path, paths=[tmp_path], snapshots=tmp_path / "graphs") as builder:
        host = FenceHost(builder)
        diagram = draw(host, options, "")
        graph = diagram.graph
        path = tmp_path / "graphs" / f"{name_snapshot(diagram.options)}.json"
        assert [_update(path, each) for each in (graph, graph)] == ["written", "unchanged"]
        committed = draw(host, {**options, "committed": "true"}, "")
        several = draw(host, {**options, "cases": "{one: {}, two: {mode: real}}"}, "")
    assert committed.graph == graph
    for each in (diagram, committed):
        assert each.problem is None
        assert [one.name for one in each.overlay.numbers] == ["Spread", "Mean", "Range", "Zeros"]
        assert each.overlay.numbers[2].values["pick"] == 3
    assert not graph.samples.random_inputs
    assert graph.samples.tensors["pick/relu:0"].zeros == 0.5
    assert several.graph.samples is None
    assert "several passes" in several.problem.message


def test_comparisons_ignore_what_flowed(tmp_path):
    graph = small_graph()
    samples = Samples(tensors={next(iter(graph.tensors)): TensorSample(mean=1)})
    sampled = msgspec.structs.replace(graph, samples=samples)
    assert structural_digest(sampled) == structural_digest(graph)
    path = tmp_path / "net.json"
    save(sampled, path)
    assert graph_of(str(path), lambda _: None) == graph
    assert [_update(path, each) for each in (graph, sampled)] == ["written", "written"]


def test_commands_sample_what_flows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sampled_net.py").write_text(NET)
    words = ["show", "sampled_net.Sampled", "--inputs", "[1, 6]", "--values", "sample", "-o", "net.svg"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert "Warning" not in done.output
    assert "Spread (random inputs)" in (tmp_path / "net.svg").read_text("utf-8")
