from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

import modeldiagrams
from graphs import small_graph
from modeldiagrams.__main__ import main
from modeldiagrams.options import option_help

from .conftest import PROJECT


@pytest.fixture
def run(monkeypatch):
    monkeypatch.chdir(PROJECT)
    return lambda *words: CliRunner().invoke(main, [str(word) for word in words])


def test_trace_and_render_make_files(run, tmp_path):
    traced = run("trace", "mypkg.Widths", "--args", "[[4, 2]]", "--inputs", "[1, 4]", "-o", tmp_path / "graph.json")
    assert (traced.exit_code, traced.stdout) == (0, "")
    assert modeldiagrams.load(tmp_path / "graph.json").model.name == "Widths"
    for name in ("out.svg", "out.html"):
        drawn = run("render", tmp_path / "graph.json", "-o", tmp_path / name, "--depth", "1", "--direction", "LR")
        assert (drawn.exit_code, drawn.stdout) == (0, "")
        assert "layers" in (tmp_path / name).read_text("utf-8")


def test_the_module_can_be_run_and_writes_the_graph_to_stdout_alone():
    done = subprocess.run(
        [sys.executable, "-m", "modeldiagrams", "trace", "mypkg.models.Chatty", "--inputs", "[1, 4]"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["model"]["name"] == "Chatty"
    assert "Traceback" not in done.stderr


def test_a_partial_trace_is_written_and_exits_with_1(run, tmp_path):
    done = run("trace", "mypkg.models.RaisesInForward", "--inputs", "[1, 4]", "-o", tmp_path / "graph.json")
    assert done.exit_code == 1
    assert "Warning: the forward pass of mypkg.models.RaisesInForward raised RuntimeError" in done.stderr
    assert "mypkg/models.py:" in done.stderr
    assert modeldiagrams.load(tmp_path / "graph.json").status.state == "partial"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["trace"], "Missing argument 'TARGET'"),
        (["trace", "mypkg.Modl"], "Error: module 'mypkg' has no attribute 'Modl'; did you mean 'Model'?"),
        (["trace", "mypkg.Model", "--inputs", "[1"], "Error: option 'inputs': "),
        (["render", "missing.json", "-o", "out.svg"], "missing.json"),
        (["render", "graph.json", "-o", "out.pdf"], "expected a name ending in .json, .svg or .html, got 'out.pdf'"),
        (["render", "graph.json", "-o", "out.svg", "--direction", "up"], "Error: option 'direction': "),
    ],
)
def test_wrong_use_exits_with_2_and_one_paragraph(run, tmp_path, monkeypatch, words, message):
    modeldiagrams.save(small_graph(), tmp_path / "graph.json")
    if words[0] == "render":
        monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_the_schema_is_printed(run):
    assert json.loads(run("schema").stdout)["title"].startswith("modeldiagrams graph")


def test_help_is_what_documentation_says(run):
    words = " ".join(run("trace", "--help").output.split())
    for name in ("args", "kwargs", "config", "inputs", "inputs_from"):
        assert f"--{name.replace('_', '-')}" in words
        assert option_help()[name].split(".")[0] in words
