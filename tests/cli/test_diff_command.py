"""`modeldiagrams diff`: the sides, the formats and the exit status."""

from __future__ import annotations

import http.server
import json
import subprocess
import threading
from functools import partial

import msgspec
import pytest
import torch
from click.testing import CliRunner
from torch import nn

import modeldiagrams
from modeldiagrams.cli import comparing, main
from modeldiagrams.engine.compare import sides
from modeldiagrams.engine.single_trace import TracedModel
from modeldiagrams.ir.graph import Failure, Status


def run(*words):
    return CliRunner().invoke(main, ["diff", *(str(word) for word in words)])


def traced(*layers, size=1):
    return modeldiagrams.trace(nn.Sequential(*layers).eval(), (torch.zeros(size, 4),))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    graphs = {
        "before": traced(nn.Linear(4, 4), nn.ReLU()),
        "relu": traced(nn.Linear(4, 4), nn.GELU()),
        "wide": traced(nn.Linear(4, 8), nn.ReLU()),
        "frozen": traced(nn.Linear(4, 4).requires_grad_(False), nn.ReLU()),
        "batch": traced(nn.Linear(4, 4), nn.ReLU(), size=2),
    }
    for name, graph in graphs.items():
        modeldiagrams.save(graph, folder / f"{name}.json")
    failure = Failure(type="ValueError", message="no")
    partial_ = msgspec.structs.replace(graphs["before"], status=Status(state="partial", mode="real", error=failure))
    modeldiagrams.save(partial_, folder / "partial.json")
    (folder / "foreign.json").write_text('{"a": 1}', "utf-8")
    (folder / "newer.json").write_text('{"format": "modeldiagrams", "version": "9.0"}', "utf-8")
    return folder


@pytest.mark.parametrize(
    ("after", "levels"),
    [
        ("before", {}),
        ("frozen", {"any": 1}),
        ("relu", {"any": 1, "notable": 1}),
        ("wide", {"any": 1, "notable": 1, "breaking": 1}),
        ("batch", {"any": 1, "notable": 2, "breaking": 2}),
    ],
)
def test_exit_status_follows_the_level(folder, after, levels):
    for level in ("none", "any", "notable", "breaking"):
        done = run(folder / "before.json", folder / f"{after}.json", "--fail-on", level)
        assert done.exit_code == levels.get(level, 0), (level, done.output)


@pytest.mark.parametrize(
    ("side", "problem"),
    [
        ("partial.json", "expected a complete graph to compare, got a partial one"),
        ("foreign.json", "foreign.json: $.format: expected 'modeldiagrams'"),
        ("newer.json", "newer.json: $.version: this file has format version 9.0"),
        ("missing.json", "missing.json: expected a readable graph file"),
    ],
)
def test_an_impossible_comparison_is_one_sentence_and_exits_with_2(folder, side, problem):
    for words in ((folder / side, folder / "before.json"), (folder / "before.json", folder / side)):
        done = run(*words, "--fail-on", "any")
        assert done.exit_code == 2
        assert problem in done.stderr
        assert "Traceback" not in done.stderr


def test_each_format_is_written(folder):
    words = (folder / "before.json", folder / "frozen.json")
    assert json.loads(run(*words, "--format", "json").stdout)["changes"][0]["id"] == "frozen"
    assert "- **detail** 1 change without effect on results" in run(*words, "--format", "markdown").stdout
    assert "weights frozen" not in run(*words).stdout
    assert "detail    weights frozen ×2 at 0" in run(*words, "--details").stdout


def test_large_files_are_refused(folder, monkeypatch):
    monkeypatch.setattr(sides, "_LARGEST", 100)
    done = run(folder / "before.json", folder / "relu.json")
    assert (done.exit_code, "expected a graph file of at most" in done.stderr) == (2, True)


def test_sides_from_git_and_from_a_site(folder, monkeypatch):
    def git(*words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)

    git("init", "-q")
    git("add", "before.json")
    git("commit", "-qm", "first")
    monkeypatch.chdir(folder)
    assert "ReLU replaced by GELU at 1" in run("git:HEAD:before.json", "relu.json").stdout
    for revision in ("HEAD", "git:HEAD", "HEAD~0"):
        assert run(revision, "before.json").stdout == run("git:HEAD:before.json", "before.json").stdout
    (folder / "docs" / "model-graphs").mkdir(parents=True)
    (folder / "before.json").rename(folder / "docs" / "model-graphs" / "acme.Net.json")
    monkeypatch.setattr(comparing, "trace_model", lambda *_: TracedModel(None, traced(nn.Linear(4, 4)), ()))
    git("add", "docs")
    git("commit", "-qm", "second")
    git("tag", "v1.0")
    assert "ReLU removed (*) at 1" in run("v1.0", "acme.Net").stdout
    assert "ReLU added" in run("acme.Net", "git:v1.0").stdout
    for words, problem in {
        ("v1.0", "acme.Other"): "v1.0: expected the graph of acme.Other in a folder model-graphs of that revision",
        ("v9.0", "acme.Net"): "v9.0: expected a model, a graph file, an address or a git revision: fatal: Not a valid",
    }.items():
        failed = run(*words)
        assert (failed.exit_code, problem.replace("fatal: ", "") in failed.stderr) == (2, True), failed.stderr
    git("mv", "docs/model-graphs/acme.Net.json", "before.json")
    git("commit", "-qm", "third")
    for side, problem in {
        "git:v9:before.json": "git:v9:before.json: expected a file of that revision: invalid object name 'v9'",
        "git:HEAD:relu.json": "git:HEAD:relu.json: expected a file of that revision: path",
        "git::relu.json": "git::relu.json: expected `git:REV:path`",
        "git:--output=x:y": "expected `git:REV:path`",
    }.items():
        done = run(side, "relu.json")
        assert (done.exit_code, problem in done.stderr) == (2, True), done.stderr
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        site = f"http://127.0.0.1:{server.server_port}"
        assert "no change" in run(f"{site}/before.json", "before.json").stdout
        missing = run(f"{site}/none.json", "before.json")
        server.shutdown()
    assert missing.exit_code == 2
    assert "none.json: expected a graph file at this address: File not found" in missing.stderr
    gone = run(f"{site}/before.json", "before.json")
    assert (gone.exit_code, f"{site}/before.json: expected a graph file at this address: " in gone.stderr) == (2, True)


def test_a_side_may_be_a_model(folder, monkeypatch):
    asked = []

    def trace(target, given):
        asked.append((target, given))
        return TracedModel(None, modeldiagrams.load(folder / "relu.json"), ())

    monkeypatch.setattr("modeldiagrams.cli.comparing.trace_model", trace)
    assert "ReLU replaced by GELU" in run(folder / "before.json", "mypkg.Model").stdout
    assert asked == [("mypkg.Model", {})]
