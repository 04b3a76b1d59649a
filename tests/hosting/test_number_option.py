"""The option `values` of pages and commands: files beside the page, and their mistakes."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from graphs import small_graph
from modeldiagrams.cli import main
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.hosting.host import draw
from modeldiagrams.html.fragment import build_data_script, render_fragment
from modeldiagrams.ir.serialize import save
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
        ("[3]", "option `values`: expected a file, several, or a map from patterns to numbers, got '[3]'"),
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
