"""Diagrams without options are called as recorded, before anything is guessed."""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec
import pytest

from modeldiagrams import diagram
from modeldiagrams.engine.cache import make_graph_key
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.graph import STALE
from modeldiagrams.ir.remarks import list_remarks
from modeldiagrams.options.call import Call, RecordedCall
from modeldiagrams.options.case_options import CaseOptions
from modeldiagrams.options.options import Options
from modeldiagrams.record.calls import calls_file, read_calls, recorded_graph, with_recorded, write_calls
from modeldiagrams.resolve import graph_of, resolve
from record.conftest import PROJECT, run

LINEAR = {"_target_": "torch.nn.Linear", "_args_": [6, 2]}
RECORDED = RecordedCall(seen="tests/test_a.py::test_b", kwargs={"plan": [4], "head": LINEAR}, inputs={"x": [3, 4]})


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """Writes the file of calls of a project, and reads what is known of a model."""
    monkeypatch.syspath_prepend(PROJECT)

    def complete(call, **recorded):
        write_calls(tmp_path / "calls.yaml", {name.replace("__", "."): one for name, one in recorded.items()})
        return with_recorded(call, tmp_path / "calls.yaml")

    return complete


def graph(call):
    return graph_of(resolve(call))


def inputs_of(call):
    target = resolve(call)
    return [tuple(value.shape) for value in target.kwargs.values()], target


def test_a_class_is_called_as_recorded_under_each_of_its_names(calls):
    for name in ("nets.Classifier", "nets.models:Classifier"):
        shapes, target = inputs_of(calls(Call(model=name), nets__models__Classifier=RECORDED))
        assert shapes == [(3, 4)]
        assert list_remarks(graph_of(target))[0] == "Called as in tests/test_a.py::test_b."
        assert len(list_remarks(graph_of(target))) == 1
    other = calls(Call(model="nets.Block", kwargs={"plan": {"in": 2, "out": 2}}), nets__models__Classifier=RECORDED)
    assert other.recorded is None


def test_the_authors_options_come_first(calls):
    shapes, target = inputs_of(calls(Call(model="nets.Classifier", inputs={"x": [1, 4]}), nets__Classifier=RECORDED))
    assert shapes == [(1, 4)]
    assert target.model.head.out_features == 2
    call = Call(model="nets.Classifier", kwargs={"plan": [4], "head": {**LINEAR, "_args_": [6, 9]}})
    shapes, target = inputs_of(calls(call, nets__Classifier=RECORDED))
    assert shapes == [(3, 4)]
    assert target.model.head.out_features == 9
    assert calls(msgspec.structs.replace(call, inputs=[[1, 4]]), nets__Classifier=RECORDED).recorded is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"kwargs": {"blocks": 3}}, "unexpected keyword argument 'blocks'"), ({"inputs": {"x": [3, 5]}}, "RuntimeError")],
)
def test_a_stale_call_is_reported_and_replaced(calls, change, reason):
    stale = msgspec.structs.replace(RECORDED, **change)
    found = graph(calls(Call(model="nets.Classifier"), nets__Classifier=stale))
    (said,) = [item for item in found.assumptions if item.value == STALE]
    assert said.reason.startswith("the call in tests/test_a.py::test_b fails now (")
    assert reason in said.reason
    assert f"Assumed: {said.reason}" in list_remarks(found)


def test_only_the_models_own_call_changes_the_cache_key(calls, tmp_path):
    def key(name, **recorded):
        return make_graph_key(Options(call=calls(Call(model=name), **recorded)), tmp_path)

    changed = msgspec.structs.replace(RECORDED, inputs={"x": [9, 4]})
    assert key("a.B", a__B=RECORDED) == key("a.B", a__B=RECORDED, a__C=RECORDED)
    assert key("a.B", a__B=RECORDED) != key("a.B", a__B=changed)
    assert key("a.B", a__B=RECORDED) != key("a.B")


def test_a_recorded_graph_is_of_the_class_itself_without_options(tmp_path):
    recorded = {"acme.nets.Net": RecordedCall(seen="tests/a.py::x", graph="model-calls/acme.nets.Net.json")}
    graphs = [
        recorded_graph(Call(model=name, recorded=recorded, **options), tmp_path / "model-calls.yaml")
        for name, options in (
            ("acme.nets.Net", {}),
            ("acme.Net", {}),
            ("torch.nn.Net", {}),
            ("acme.nets.Net", {"kwargs": {"depth": 7}}),
            ("acme.nets.Net", {"training": True}),
            ("acme.nets.Net", {"method": "step"}),
            ("acme.nets.Net", {"cases": {"a": CaseOptions()}}),
        )
    ]
    assert [graph is not None for graph in graphs] == [True, True, *[False] * 5]


def test_a_broken_file_is_explained(tmp_path):
    file = tmp_path / "model-calls.yaml"
    for text in ("a.B: {kwargs: {}}", "a.B: {seen: x, input: 3}", "a: b: c", "[1]"):
        file.write_text(text)
        with pytest.raises(ModelDiagramsError, match=r"model-calls.yaml can't be read \(.*; record the calls again"):
            read_calls(file)


def test_the_file_is_next_to_the_configuration_of_the_documentation(tmp_path):
    assert calls_file(tmp_path) == tmp_path / "model-calls.yaml"
    (tmp_path / "docs" / "source").mkdir(parents=True)
    (tmp_path / "docs" / "source" / "conf.py").touch()
    assert calls_file(tmp_path) == tmp_path / "docs" / "source" / "model-calls.yaml"
    (tmp_path / "mkdocs.yml").touch()
    assert calls_file(tmp_path) == tmp_path / "model-calls.yaml"


def test_a_diagram_of_a_name(calls, tmp_path, monkeypatch):
    calls(Call(model="nets.Classifier"), nets__Classifier=RECORDED)
    (tmp_path / "calls.yaml").rename(tmp_path / "model-calls.yaml")
    monkeypatch.chdir(tmp_path)
    found = diagram("nets.Classifier").graph
    assert "Called as in tests/test_a.py::test_b." in list_remarks(found)


@pytest.mark.process
def test_page_command_and_function_use_the_file(project):
    page = "Nets\n====\n\n.. model-graph:: nets.Classifier\n   :dims: off\n"
    (project / "docs" / "index.rst").write_text(page)
    (project / "docs" / "conf.py").write_text(
        "import atexit, sys\nsys.path.insert(0, '..')\nextensions = ['sphinx_modeldiagrams']\n"
        "atexit.register(lambda: print('torch is loaded:', 'torch' in sys.modules))\n"
    )
    file, html = project / "docs" / "model-calls.yaml", project / "site" / "index.html"
    recorded = file.read_text("utf-8")
    file.unlink()
    run(project, "-W", "-b", "html", "docs", "site", module="sphinx")
    assert "Assumed: constructor arguments by how they are used" in html.read_text("utf-8")
    file.write_text(recorded.replace("[9, 5]", "[7, 5]"), "utf-8")
    again = run(project, "-W", "-b", "html", "docs", "site", module="sphinx")
    assert "torch is loaded: False" in again.printed
    assert "Called as in tests/test_nets.py::test_classifier." in html.read_text("utf-8")
    assert "7×5" in html.read_text("utf-8")
    command = [sys.executable, "-m", "modeldiagrams", "trace", "nets.Classifier", "--explain"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True, env={**os.environ})
    assert "recorded call: called as in tests/test_nets.py::test_classifier" in done.stdout
    assert "inputs: {x: {shape: [7, 5], low: 0, high: 1}, scale: {value: 2.0}}" in done.stdout
