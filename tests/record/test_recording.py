"""`modeldiagrams record`: which calls of a project's tests and examples the file holds."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from modeldiagrams.cli import main
from modeldiagrams.options.call import RecordedCall
from modeldiagrams.record.run import end_run, merge, start_run
from record.conftest import run, run_tests

pytestmark = pytest.mark.process

CALLS = """\
# How tests and examples call the models, for diagrams without options; written by `modeldiagrams record`.
nets.Block:
  seen: tests/test_nets.py::test_block
  kwargs: {plan: {in: 3, out: 2}, act: {_object_: torch.nn.GELU}}
  inputs: {x: [1, 3]}
nets.Classifier:
  seen: tests/test_nets.py::test_classifier
  kwargs: {plan: [5, 6], head: {_target_: torch.nn.Linear, in_features: 4, out_features: 3}}
  inputs: {x: {shape: [9, 5], low: 0, high: 1}, scale: {value: 2.0}}
nets.Tagger:
  seen: tests/test_nets.py::test_tagger
  kwargs: {cfg: {_target_: nets.TaggerConfig, width: 4}, vocabulary: [x, y, z]}
  inputs: {ids: {shape: [2, 6], dtype: int64, low: 0, high: 3}, lengths: {_target_: torch.tensor, data: {value: [6, 4]}}}
"""  # noqa: E501


def test_the_file_has_the_clearest_call(recorded):
    """In eval mode, by the test itself, as it was written: before constructor and forward changed their arguments."""
    _, result = recorded
    assert result.status == 0, result.printed  # the project's tests compile and trace models, too
    assert result.file == CALLS


def test_an_unwritable_call_is_explained_with_alternatives(recorded):
    line = next(line for line in recorded[1].printed.splitlines() if line.startswith("nets.Reader"))
    assert "tests/test_nets.py::test_reader calls it: the argument `file` is an object of the class _io." in line
    assert "`inputs_from`" in line
    assert "--snapshot" in line
    assert "nets.Hidden" not in recorded[1].printed  # nothing names it


@pytest.mark.parametrize("case", ["left out", "from another folder", "not imported"])
def test_calls_of_tests_that_did_not_run_are_kept(project, case):
    broken = project / "tests" / "test_broken.py"
    if case == "not imported":
        broken.write_text("import nosuch\n")
    folder = project / "docs" if case == "from another folder" else project
    words = [] if case == "not imported" else ["-k", "block"]
    command = ["-m", "modeldiagrams", "record", "--docs", str(project / "docs"), "--", sys.executable, "-m", "pytest"]
    subprocess.run(
        [sys.executable, *command, "-q", *words, os.path.relpath(project / "tests", folder)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(project), *sys.path])},
        check=False,
    )
    broken.unlink(missing_ok=True)
    assert (project / "docs" / "model-calls.yaml").read_text().count("seen:") == CALLS.count("seen:")


def test_several_processes_give_the_same_bytes(project):
    file = project / "docs" / "model-calls.yaml"
    file.unlink()
    words = ["-q", "-p", "no:cacheprovider", "-p", "xdist.plugin", "-p", "modeldiagrams", "--record-model-calls", "-n2"]
    result = run(project, *words, "tests", module="pytest")
    assert result.file == CALLS, result.printed
    assert "docs/model-calls.yaml: 3 model calls (3 new)" in result.printed


def test_an_example_comes_before_tests_and_what_did_not_run_is_kept(project):
    example = run(project, "record", "--", sys.executable, "examples/demo.py", "--flag")
    assert "['--flag']" in example.printed
    assert "seen: examples/demo.py\n  kwargs: {plan: {in: 8, out: 4}}\n" in example.file
    assert example.file.partition("nets.Classifier:")[2] == CALLS.partition("nets.Classifier:")[2]


def test_calls_are_kept_until_newer_ones_are_known():
    example, first, second = (RecordedCall(seen=seen) for seen in ("demo.py", "tests/a.py::x", "tests/b.py::x"))
    assert merge({"a": example}, {"a": first, "b": first}, {first.seen}) == {"a": example, "b": first}
    assert merge({"a": first}, {"a": example}, {"demo.py"}) == {"a": example}
    assert merge({"a": first}, {"a": second}, {"tests/b.py"}) == {"a": first}
    assert merge({"a": first}, {}, {first.seen}) == {}


def test_an_unreadable_file_is_kept_under_another_name(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "environ", {**os.environ})
    file = tmp_path / "model-calls.yaml"
    file.write_text("<<<<<<< HEAD")
    said, *_ = end_run(start_run(tmp_path))
    assert (tmp_path / "model-calls.yaml.unreadable").read_text() == "<<<<<<< HEAD"
    assert not file.exists()
    assert said.startswith("model-calls.yaml can't be read (")
    assert said.endswith("It is model-calls.yaml.unreadable now, and model-calls.yaml has the calls of this run only")


def test_a_snapshot_is_the_graph_of_the_recorded_call(project):
    result = run_tests(project, "--snapshot", "--all")
    assert "nets.Reader:\n  seen: tests/test_nets.py::test_reader\n  graph: model-calls/nets.Reader.json" in result.file
    assert "\nnets.models.Hidden:\n" in result.file  # `--all`
    (project / "docs" / "model-calls" / "nets.Reader.json").unlink()
    models = project / "nets" / "models.py"
    models.write_text(models.read_text().replace("(self, cfg, vocabulary)", "(self, config, words)"))
    stale = run(project, "record", "--check")
    assert stale.status == 1
    first, second = [line for line in stale.printed.splitlines() if line.startswith("nets.")]
    assert first.startswith("nets.Reader: the graph of the call in tests/test_nets.py::test_reader")
    assert second.startswith("nets.Tagger: the call in tests/test_nets.py::test_tagger fails now (nets.Tagger can't be")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "expected a command that runs tests or an example"),
        (["--check"], "write it with `modeldiagrams record -- pytest`"),
        (["--", "no-such-program"], "no-such-program can't be run: No such file"),
        (["--", "python", "-c", "0"], "expected a script or a module after `python`"),
    ],
)
def test_wrong_use_is_explained(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", {**os.environ})
    done = CliRunner().invoke(main, ["record", *words])
    assert said in done.output
    assert done.exit_code == 2


def test_a_command_that_failed_is_named(tmp_path):
    (tmp_path / "fails.py").write_text("raise SystemExit(3)", "utf-8")
    done = run(tmp_path, "record", "--", "python", "fails.py")
    assert done.status == 3
    assert "python ended with exit status 3: calls of what did not run are missing" in done.printed
