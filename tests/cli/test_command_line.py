"""The commands, in this process and in others.

Long because all commands share one worker, which takes seconds to start.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import time
from contextlib import nullcontext

import click
import msgspec
import pytest
import yaml
from click.testing import CliRunner

import modeldiagrams
from graphs import small_graph
from modeldiagrams.api import terminal
from modeldiagrams.api.target_file import import_path
from modeldiagrams.api.terminal import show_progress
from modeldiagrams.cli import main
from modeldiagrams.engine.single_trace import TracedModel
from modeldiagrams.ir.graph import Failure, Status
from modeldiagrams.options.parsing import collect_help, parse_options
from modeldiagrams.worker import Worker
from samples import PROJECT

_SYNTAXES = ("reStructuredText", "Markdown")


@pytest.fixture(scope="module")
def worker(tools):
    """One worker for all commands in this process, because importing torch is slow."""
    with tools.lending(), Worker() as worker:
        yield worker


@pytest.fixture
def run(monkeypatch, worker):
    monkeypatch.chdir(PROJECT)
    monkeypatch.setattr("modeldiagrams.engine.single_trace.Worker", lambda *_, **__: nullcontext(worker))
    return lambda *words: CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "--depth", "-3"], "option `depth`: expected a whole number from 0 to 1000, got '-3'"),
        (
            ["show", "--direction", "up"],
            "option `direction`: expected TB or LR or a map whose values are TB or LR, got 'up'",
        ),
        (["show", "--depth", "1", "-o", "x.json"], "option `depth`: .json files contain the whole graph"),
        (["summary", "--depth", "0"], "option `depth`: expected a number of levels above 0, got 0"),
        (["summary", "--columns", "flop"], "option `columns`: expected some of inputs, outputs,"),
    ],
)
def test_options_are_read_before_a_model_runs(run, monkeypatch, words, message):
    monkeypatch.setattr("modeldiagrams.engine.single_trace.Worker", None)
    done = run(words[0], "mypkg.Widths", *words[1:])
    assert (done.exit_code, done.stderr.startswith(f"Error: {message}")) == (2, True), done.stderr


def test_trace_and_render_write_files(run, tmp_path):
    traced = run("trace", "mypkg.Widths", "--args", "[[4, 2]]", "--inputs", "[1, 4]", "-o", tmp_path / "graph.json")
    assert (traced.exit_code, traced.stdout) == (0, "")
    assert modeldiagrams.load(tmp_path / "graph.json").model.name == "Widths"
    for name in ("out.svg", "out.html"):
        drawn = run("render", tmp_path / "graph.json", "-o", tmp_path / name, "--depth", "1", "--direction", "LR")
        assert (drawn.exit_code, drawn.stdout) == (0, "")
        assert "layers" in (tmp_path / name).read_text("utf-8")


@pytest.mark.parametrize("typed", ["trac", "wach", "zzz"])
def test_command_with_a_typing_error_gets_the_hint_of_click(run, typed):
    """Which names the nearest in its newer versions."""
    plain = click.Group(commands=[click.Command(name) for name in main.list_commands(click.Context(main))])
    expected = CliRunner().invoke(plain, [typed]).stderr.splitlines()[-1]
    done = run(typed)
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (2, expected)


@pytest.mark.parametrize(("name", "convert"), [("a.dot", modeldiagrams.to_dot), ("a.mmd", modeldiagrams.to_mermaid)])
def test_render_writes_text_for_graphviz_and_mermaid(run, tmp_path, name, convert):
    modeldiagrams.save(small_graph(), tmp_path / "graph.json")
    words = ["render", tmp_path / "graph.json", "-o", tmp_path / name]
    for flags, view in ((["--depth", "0", "--direction", "LR"], {"depth": 0, "direction": "LR"}), ([], {})):
        assert run(*words, *flags).exit_code == 0
        expected = convert(small_graph(), **view)
        assert (tmp_path / name).read_text("utf-8") == getattr(expected, "source", expected)
    assert "option `fit`" in run(*words, "--fit", "a4").stderr
    assert "Warning: option `expand`: no module matches 'fcc'" in run(*words, "--expand", "fcc").stderr


def test_summary_of_a_model_and_of_its_graph_file_are_the_same(run, tmp_path):
    options = ["mypkg.Widths", "--args", "[[4, 2]]", "--inputs", "[1, 4]"]
    assert run("trace", *options, "-o", tmp_path / "graph.json").exit_code == 0
    flags = ["--depth", "1", "--columns", "outputs, calls"]
    traced, read = run("summary", *options, *flags), run("summary", tmp_path / "graph.json", *flags)
    assert traced.exit_code == read.exit_code == 0
    assert traced.stdout == read.stdout
    assert traced.stdout.split()[:5] == ["Module", "Class", "Output", "shape", "Calls"]
    wrong = run("summary", tmp_path / "graph.json", "--inputs", "[1, 4]")
    assert wrong.exit_code == 2
    assert "option `inputs`: " in wrong.stderr
    assert "is a graph file" in wrong.stderr


def test_times_are_measured_on_request(run, tmp_path):
    options = ["mypkg.Widths", "--args", "[[4, 2]]", "--inputs", "[1, 4]", "--measure-time", "true"]
    assert run("trace", *options, "-o", tmp_path / "graph.json").exit_code == 0
    graph = modeldiagrams.load(tmp_path / "graph.json")
    assert graph.status.mode == "real"
    assert graph.model.time_ns > 0
    table = run("summary", tmp_path / "graph.json").stdout
    assert table.splitlines()[0].split()[-3:] == ["Own", "time", "Calls"]
    assert "Own time" not in run("summary", *options[:-2]).stdout
    assert run("show", *options, "-o", tmp_path / "page.html").exit_code == 0
    assert re.search(r"<model-graph [^>]*\btimes\b", (tmp_path / "page.html").read_text("utf-8"))
    refused = run("trace", *options, "--mode", "fake")
    assert refused.exit_code == 2
    assert "option `measure_time`: expected the mode auto or real" in refused.stderr


def test_module_writes_the_graph_to_stdout_only():
    done = subprocess.run(
        [sys.executable, "-m", "modeldiagrams", "trace", "mypkg.models.Chatty", "--inputs", "[1, 4]"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["model"]["name"] == "Chatty"


def test_partial_trace_is_written_and_exits_with_1(run, tmp_path):
    done = run("trace", "mypkg.models.RaisesInForward", "--inputs", "[1, 4]", "-o", tmp_path / "graph.json")
    assert done.exit_code == 1
    assert "Warning: the forward pass of mypkg.models.RaisesInForward raised RuntimeError" in done.stderr
    assert "mypkg/models.py:" in done.stderr
    assert modeldiagrams.load(tmp_path / "graph.json").status.state == "partial"


def test_explained_options_give_the_same_graph(run, tmp_path):
    explained = run("trace", "mypkg.models.Configured", "--explain", "-o", tmp_path / "found.json")
    assert explained.exit_code == 0
    assert "2 (offered by the class)" in explained.stdout
    rst, fence = (explained.stdout.partition(f"{title}:\n")[2].partition("\n\n")[0] for title in _SYNTAXES)
    options = dict(re.findall(r":(\w+): (.*)", rst))
    body = yaml.safe_load("\n".join(textwrap.dedent(fence).splitlines()[1:-1]))
    assert parse_options(body) == parse_options({"model": rst.split()[2], **options})
    _, _, model, *flags = shlex.split(explained.stdout.partition("Command line:\n")[2].partition("\n\n")[0])
    assert model == rst.split()[2]
    pasted = run("trace", "mypkg.models.Configured", *flags, "-o", tmp_path / "pasted.json")
    assert pasted.exit_code == 0
    found, same = (modeldiagrams.load(tmp_path / name) for name in ("found.json", "pasted.json"))
    assert same == msgspec.structs.replace(found, assumptions=())
    assert "1 (explicit options)" in run("trace", "mypkg.models.Configured", *flags, "--explain").stdout


def test_explained_cases_are_options_to_paste(run):
    cases = "{infer: {}, train: {training: true}}"
    explained = run("trace", "mypkg.models.Configured", "--cases", cases, "--explain")
    assert explained.exit_code == 0
    assert f"--cases '{cases}'" in explained.stdout


def test_trace_without_inputs_explains_tries_and_exits_with_1(run):
    done = run("trace", "mypkg.models.Secretive", "--kwargs", "{secret: open sesame}", "--explain")
    assert done.exit_code == 1
    assert "5 (module hierarchy)" in done.stdout
    assert "{'word': [1, 2]} (fake): " in done.stdout
    assert "write the option `inputs` with a shape for each tensor" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["trace"], "Missing argument 'TARGET'"),
        (["trace", "mypkg.Modl"], "Error: module 'mypkg' has no attribute 'Modl'; did you mean 'Model'?"),
        (["trace", "mypkg.Model", "--inputs", "[1"], "Error: option `inputs`: "),
        (["render", "missing.json", "-o", "out.svg"], "missing.json"),
        (
            ["render", "graph.json", "-o", "out.gif"],
            "Error: option `-o`: expected a name ending in .json, .svg, .png, .pdf, .html, .dot, .mmd, got 'out.gif'",
        ),
        (["trace", "mypkg.Model", "--inputs", "foo"], "option `inputs`: expected a list or a map, got 'foo'. Example"),
        (
            ["trace", "mypkg.Model", "--inputs", "[1,16"],
            "',' or ']', but it ends there, got '[1,16'. Ex",
        ),
        (
            ["trace", "mypkg.Model", "-o", "net.svg"],
            "got 'net.svg'; `modeldiagrams show mypkg.Model -o",
        ),
        (
            ["render", "graph.json", "-o", "out.svg", "--theme", "dark"],
            "around them; a theme is for .png, .pdf and flat .svg files",
        ),
        (["render", "graph.json", "-o", "out.svg", "--direction", "up"], "Error: option `direction`: "),
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


def test_schema_is_printed(run):
    assert json.loads(run("schema").stdout)["title"].startswith("modeldiagrams graph")


def test_flags_have_names_and_help_of_options(run):
    words = " ".join(run("trace", "--help").output.split())
    for name in ("args", "kwargs", "config", "inputs", "inputs_from"):
        assert f"--{name.replace('_', '-')}" in words
        assert collect_help()[name].split(".")[0] in words


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (ValueError("ours"), 2)])
def test_bugs_and_interrupts_do_not_exit_with_1(run, monkeypatch, tmp_path, error, code):
    def fail(*_):
        raise error

    monkeypatch.setattr("modeldiagrams.ir.serialize.load", fail)
    assert run("render", "x.json", "-o", tmp_path / "x.svg").exit_code == code


def stderr_until(capsys, text: str) -> str:
    """Read what is printed, until this text appears."""
    printed = ""
    end = time.monotonic() + 60
    while text not in printed and time.monotonic() < end:
        time.sleep(0.01)
        printed += capsys.readouterr().err
    return printed


def test_log_names_what_takes_long(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "_EVERY", 0.1)
    with show_progress("a short one"):
        pass
    with show_progress("a long one"):
        lines = stderr_until(capsys, "0.1 s\n").splitlines()
    assert lines[:2] == ["a long one …", "a long one … 0.1 s"]


def test_terminal_shows_the_seconds_in_one_line(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with show_progress("tracing"):
        printed = stderr_until(capsys, "1 s")
    *shown, blank, rest = (printed + capsys.readouterr().err).split("\r")
    assert shown[:2] == ["tracing …", "tracing … 1 s"]
    assert (blank, rest) == (" " * len(shown[-1]), "")


def test_help_explains_the_modes(run):
    words = " ".join(run("trace", "--help").output.split())
    for mode in ("`fake`: shapes only", "`meta`: ", "`real`: with values", "`auto`, the default: "):
        assert mode in words


def test_unmatched_pattern_is_a_warning(run, tmp_path):
    modeldiagrams.save(small_graph(), tmp_path / "graph.json")
    done = run("render", tmp_path / "graph.json", "-o", tmp_path / "out.svg", "--expand", "nowhere.*")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "Warning: option `expand`: no module matches 'nowhere.*'; " in done.stderr


def test_meta_mode_traces_ordinary_models(run, tmp_path):
    for mode in ("meta", "real"):
        done = run("trace", "mypkg.Model", "--inputs", "[1, 4]", "--mode", mode, "-o", tmp_path / f"{mode}.json")
        assert done.exit_code == 0, done.output
    meta, real = (modeldiagrams.load(tmp_path / f"{mode}.json") for mode in ("meta", "real"))
    assert meta.status.mode == "meta"
    assert meta.adjacency == real.adjacency


def test_partial_graph_replaces_a_complete_one_only_if_forced(run, tmp_path, monkeypatch):
    output = tmp_path / "graph.json"
    status = Status(state="partial", error=Failure(type="ValueError", message="no"))
    partial = msgspec.structs.replace(small_graph(), status=status)
    monkeypatch.setattr("modeldiagrams.cli.graphs.trace_model", lambda *_: TracedModel(None, partial, ()))
    modeldiagrams.save(small_graph(), output)
    done = run("trace", "mypkg.Model", "-o", output)
    assert done.exit_code == 1
    assert "graph.json was not overwritten, because the new graph is less complete; --force" in done.stderr
    assert modeldiagrams.load(output) == small_graph()
    for words in (("--force",), ()):  # a partial graph may replace a partial one
        done = run("trace", "mypkg.Model", "-o", output, *words)
        assert done.exit_code == 1
        assert "graph.json: 1 module, 2 ops, " in done.stderr
        assert modeldiagrams.load(output) == partial


def test_picture_of_a_partial_graph_replaces_no_other_unless_forced(run, tmp_path, monkeypatch):
    output = tmp_path / "net.mmd"
    status = Status(state="partial", error=Failure(type="ValueError", message="no"))
    partial = msgspec.structs.replace(small_graph(), status=status)
    monkeypatch.setattr("modeldiagrams.cli.draw_commands.trace_model", lambda *_: TracedModel(None, partial, ()))
    for before, words, replaced in ((None, (), True), ("complete", (), False), ("complete", ("--force",), True)):
        if before:
            output.write_text(before)
        done = run("show", "mypkg.Model", "-o", output, *words)
        assert done.exit_code == 1
        assert (output.read_text() != before) is replaced
        assert ("net.mmd was not overwritten" in done.stderr) is not replaced


def test_files_are_targets_with_imports_from_their_package(run, tmp_path, monkeypatch):
    package = tmp_path / "some where" / "pkg"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "layers.py").write_text("import torch\n\nLayer = torch.nn.Linear\n")
    source = (
        "import torch\n\nfrom .layers import Layer\n\n\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.fc = Layer(4, 2)\n\n"
        "    def forward(self, x):\n        return self.fc(x)\n"
    )
    (package / "model.py").write_text(source)
    (tmp_path / "model.py").write_text(source.replace(".layers import Layer", "torch.nn import Linear as Layer"))
    monkeypatch.chdir(tmp_path)
    for target, class_ in (("model.py:Net", "model.Net"), ("some where/pkg/model.py:Net", "pkg.model.Net")):
        done = run("trace", target, "--inputs", "[1, 4]")
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["model"]["class"] == class_


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("no/model.py:Net", "Error: there is no file no/model.py"),
        ("my-model.py:Net", "because 'my-model' is not a valid Python name; rename the file"),
        ("my-model.py", "expected a name in the file, such as `my-model.py:Net`"),
        ("nets.py", "expected a name in the file, such as `nets.py:Whole`"),
    ],
)
def test_wrong_files_are_explained(run, tmp_path, monkeypatch, target, message):
    (tmp_path / "my-model.py").touch()
    (tmp_path / "nets.py").write_text(
        "class Part(nn.Module): pass\nclass Whole(torch.nn.Module): pass\nclass Data(D): pass"
    )
    monkeypatch.chdir(tmp_path)
    done = run("trace", target)
    assert done.exit_code == 2
    assert message in done.stderr


def test_package_file_is_the_package(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    assert import_path("pkg/__init__.py:Net", tmp_path) == ("pkg:Net", [tmp_path])
    assert import_path("pkg.model:Net", tmp_path) == ("pkg.model:Net", [tmp_path])
    assert import_path("pkg.Net", tmp_path) == ("pkg.Net", [tmp_path])


def test_dash_is_stdin_and_stdout(run):
    graph = run("trace", "mypkg.Model", "--inputs", "[1, 4]", "-o", "-")
    assert json.loads(graph.stdout)["model"]["name"] == "Model"
    drawn = CliRunner().invoke(main, ["render", "-", "-o", "-", "--flat"], input=graph.stdout)
    assert drawn.exit_code == 0, drawn.stderr
    assert drawn.stdout.startswith("<svg")
    assert "<style" not in drawn.stdout


def test_commands_say_what_they_wrote(run, tmp_path):
    modeldiagrams.save(small_graph(), tmp_path / "graph.json")
    done = run("render", tmp_path / "graph.json", "-o", tmp_path / "out.svg")
    assert re.search(r"out\.svg: 1 module, 2 ops, \d+\.\d s\n", done.stderr)


def test_a_missing_folder_is_an_error_and_not_made(run, tmp_path):
    modeldiagrams.save(small_graph(), tmp_path / "graph.json")
    for words in (("render", tmp_path / "graph.json"), ("trace", "mypkg.Model"), ("show", "mypkg.Model")):
        done = run(*words, "-o", tmp_path / "a" / "out.svg")
        assert done.exit_code == 2
        assert f"out.svg can't be written: there is no folder {tmp_path / 'a'}\n" in done.stderr
        assert not (tmp_path / "a").exists()


def test_show_traces_and_draws_in_one_step(run, tmp_path, monkeypatch):
    picture = tmp_path / "net.svg"
    done = run("show", "mypkg.Widths", "--args", "[[4, 2]]", "--inputs", "[1, 4]", "--depth", "1", "-o", picture)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "layers" in picture.read_text("utf-8")
    assert re.search(r"net\.svg: 2 modules, 1 op, \d+\.\d s\n", done.stderr)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.py").write_text("import torch\n\n\ndef net():\n    return torch.nn.Linear(4, 2)\n")
    done = run("show", "small.py:net", "--inputs", "[1, 4]")
    assert (done.exit_code, done.stdout) == (0, "Linear.html\n")
    assert (tmp_path / "Linear.html").read_text("utf-8").startswith("<!doctype html>")


def test_show_has_the_options_of_both_commands(run):
    def flags(command):
        return set(re.findall(r"^  (?:-o, )?(--[\w-]+)", run(command, "--help").output, re.MULTILINE))

    assert flags("show") == (flags("trace") | flags("render")) - {"--explain"}


@pytest.mark.parametrize("target", ["model.py", "model.py:Net", "mypkg.Model"])
def test_render_of_a_model_says_to_trace_it_first(run, target):
    done = run("render", target, "-o", "out.svg")
    assert done.exit_code == 2
    assert f"trace it first: `modeldiagrams trace {target} -o net.json`" in done.stderr


@pytest.mark.parametrize("command", ["trace", "show"])
def test_a_graph_file_cannot_be_run(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    modeldiagrams.save(small_graph(), tmp_path / "net.json")
    done = run(command, "net.json", "-o", "net.svg" if command == "show" else "other.json")
    assert done.exit_code == 2
    assert "net.json is a graph file" in done.stderr
    assert "`modeldiagrams render net.json -o net.html`" in done.stderr
    assert "tracing" not in done.stderr


def test_a_closed_output_is_no_error(tmp_path):
    modeldiagrams.save(small_graph(), tmp_path / "net.json")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "modeldiagrams", "summary", "net.json"]
    done = subprocess.run(command, cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_commands_only_import_what_they_need():
    code = "import sys, modeldiagrams.cli; sys.exit(','.join({'asyncio', 'torch', 'starlette'} & {*sys.modules}))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr.strip() == ""
    )
