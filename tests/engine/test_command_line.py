from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
import time

import msgspec
import pytest
import yaml
from click.testing import CliRunner

import modeldiagrams
from graphs import small_graph
from modeldiagrams.__main__ import _progress, main
from modeldiagrams.options import option_help, parse_options

from .conftest import PROJECT

_SYNTAXES = ("reStructuredText", "Markdown")


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


def test_a_partial_trace_is_written_and_exits_with_1(run, tmp_path):
    done = run("trace", "mypkg.models.RaisesInForward", "--inputs", "[1, 4]", "-o", tmp_path / "graph.json")
    assert done.exit_code == 1
    assert "Warning: the forward pass of mypkg.models.RaisesInForward raised RuntimeError" in done.stderr
    assert "mypkg/models.py:" in done.stderr
    assert modeldiagrams.load(tmp_path / "graph.json").status.state == "partial"


def test_what_explains_itself_is_pasted_and_gives_the_same_graph(run, tmp_path):
    explained = run("trace", "mypkg.models.Configured", "--explain", "-o", tmp_path / "found.json")
    assert explained.exit_code == 0
    assert "2 (offered by the class)" in explained.stdout
    rst, fence = (explained.stdout.partition(f"{title}:\n")[2].partition("\n\n")[0] for title in _SYNTAXES)
    options = dict(re.findall(r":(\w+): (.*)", rst))
    body = yaml.safe_load("\n".join(textwrap.dedent(fence).splitlines()[1:-1]))
    assert parse_options(body) == parse_options({"model": rst.split()[2], **options})
    flags = [word for name, value in options.items() for word in (f"--{name}", value)]
    pasted = run("trace", "mypkg.models.Configured", *flags, "-o", tmp_path / "pasted.json")
    assert pasted.exit_code == 0
    found, same = (modeldiagrams.load(tmp_path / name) for name in ("found.json", "pasted.json"))
    assert same == msgspec.structs.replace(found, assumptions=())
    assert "1 (explicit options)" in run("trace", "mypkg.models.Configured", *flags, "--explain").stdout


def test_where_nothing_is_found_the_modules_are_and_what_was_tried_is_told(run):
    done = run("trace", "mypkg.models.Secretive", "--kwargs", "{secret: open sesame}", "--explain")
    assert done.exit_code == 1
    assert "5 (module hierarchy)" in done.stdout
    assert "{'word': [1, 2]} (fake): " in done.stdout
    assert "write the option `inputs`, e.g. `inputs: {word: [1, 8]}`" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["trace"], "Missing argument 'TARGET'"),
        (["trace", "mypkg.Modl"], "Error: module 'mypkg' has no attribute 'Modl'; did you mean 'Model'?"),
        (["trace", "mypkg.Model", "--inputs", "[1"], "Error: option 'inputs': "),
        (["render", "missing.json", "-o", "out.svg"], "missing.json"),
        (
            ["render", "graph.json", "-o", "out.gif"],
            "expected a name ending in .json, .svg, .png, .pdf, .html, got 'out.gif'",
        ),
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


def test_the_schema_is_printed(run):
    assert json.loads(run("schema").stdout)["title"].startswith("modeldiagrams graph")


def test_help_is_what_documentation_says(run):
    words = " ".join(run("trace", "--help").output.split())
    for name in ("args", "kwargs", "config", "inputs", "inputs_from"):
        assert f"--{name.replace('_', '-')}" in words
        assert option_help()[name].split(".")[0] in words


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (ValueError("ours"), 2)])
def test_no_other_ending_looks_like_a_partial_trace(run, monkeypatch, tmp_path, error, code):
    def fail(*_):
        raise error

    monkeypatch.setattr("modeldiagrams.serialize.load", fail)
    assert run("render", "x.json", "-o", tmp_path / "x.svg").exit_code == code


def test_progress_is_told_where_it_takes_long_and_only_there(capsys):
    with _progress("a short one"):
        pass
    with _progress("a long one"):
        time.sleep(1.3)
    assert capsys.readouterr().err == "a long one …\n"


def test_a_pattern_that_matches_nothing_is_told(run, tmp_path):
    modeldiagrams.save(small_graph(), tmp_path / "graph.json")
    done = run("render", tmp_path / "graph.json", "-o", tmp_path / "out.svg", "--expand", "nowhere.*")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "Warning: option 'expand': no module matches 'nowhere.*'; " in done.stderr


def test_meta_is_for_ordinary_models_too(run, tmp_path):
    for mode in ("meta", "real"):
        done = run("trace", "mypkg.Model", "--inputs", "[1, 4]", "--mode", mode, "-o", tmp_path / f"{mode}.json")
        assert done.exit_code == 0, done.output
    meta, real = (modeldiagrams.load(tmp_path / f"{mode}.json") for mode in ("meta", "real"))
    assert meta.status.mode == "meta"
    assert meta.adjacency == real.adjacency
