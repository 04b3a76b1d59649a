"""The fixture `architecture` in a project that installed this package."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import NamedTuple

import pytest

TESTS = """
import os

import pytest
import torch
from torch import nn

LATER = bool(os.environ.get("LATER"))


def net(activation=nn.ReLU, width=4):
    return nn.Sequential(nn.Linear(4, width), activation()).eval()


def inputs(size=1):
    return (torch.zeros(size, 4),)


class Broken(nn.Module):
    def forward(self, x):
        raise ValueError("no such thing")


def test_same(architecture):
    architecture.check(net(), inputs())


def test_keywords(architecture):
    architecture.check(net(), kwargs={"input": inputs()[0]})


def test_changed(architecture):
    architecture.check(net(nn.GELU if LATER else nn.ReLU), inputs())


def test_frozen(architecture):
    architecture.check(net().requires_grad_(not LATER), inputs())


def test_frozen_is_no_matter(architecture):
    architecture.check(net().requires_grad_(not LATER), inputs(), fail_on="notable")


def test_other_inputs(architecture):
    architecture.check(net(), inputs(2 if LATER else 1))


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("kind", ["a/b", "a-b"])
def test_each(architecture, width, kind):
    architecture.check(net(width=width), inputs())


class TestNames:
    def test_two(self, architecture):
        architecture.check(net(), inputs(), name="first")
        architecture.check(net(), inputs(), name="second")

    def test_none(self, architecture):
        architecture.check(net(), inputs())
        architecture.check(net(), inputs())


def test_unreadable(architecture):
    architecture.check(net(), inputs())


def test_missing(architecture):
    architecture.check(net(), inputs())


def test_raises(architecture):
    architecture.check(Broken(), inputs())
"""

LONE = """
import sys


def test_nothing_is_imported():
    names = {name for name in sys.modules if name.partition(".")[0] in {"modeldiagrams", "torch", "msgspec"}}
    assert names == {"modeldiagrams", "modeldiagrams.api", "modeldiagrams.api.pytest_plugin"}
"""


def run(folder, *words, **environment):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    # pytest reads our modules anew for what asserts should say: once
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "COLUMNS": "120", **environment}
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


class Runs(NamedTuple):
    first: str
    later: str
    graphs: set[str]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Files written by two processes at once, then compared by one with models that have changed."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "tests").mkdir()
    (folder / "tests" / "test_net.py").write_text(TESTS, "utf-8")
    first = run(folder, "--update-architectures", "-n", "2")
    graphs = folder / "tests" / "architectures" / "test_net"
    names = {path.name for path in graphs.iterdir()}
    (graphs / "test_unreadable.json").write_text('{"format": "modeldiagrams", "version": "9.0"}', "utf-8")
    (graphs / "test_missing.json").unlink()
    return Runs(first, run(folder, LATER="1"), names)


def message(report, test):
    """The lines that pytest shows for a failure."""
    (section,) = re.findall(rf"^_+ {re.escape(test)} _+$(.*?)^(?=_+ |=+ )", report, re.MULTILINE | re.DOTALL)
    return "\n".join(line[1:].strip() for line in section.splitlines() if line.startswith("E "))


def test_graphs_lie_beside_the_test_file(runs):
    assert re.search(r"2 failed, 13 passed", runs.first), runs.first
    names = {name for name in runs.graphs if not name.startswith("test_each")}
    assert names == {
        "TestNames.test_none.json",  # its second check fails
        "TestNames.test_two.first.json",
        "TestNames.test_two.second.json",
        *(f"test_{name}.json" for name in ("same", "keywords", "changed", "frozen", "frozen_is_no_matter")),
        *(f"test_{name}.json" for name in ("other_inputs", "unreadable", "missing")),
    }
    each = runs.graphs - names
    assert {"test_each[a-b-4].json", "test_each[a-b-8].json"} < each
    assert len(each) == 4


def test_written_files_are_listed_at_the_end(runs):
    written = re.findall(r"^architecture written: (.*)$", runs.first, re.MULTILINE)
    assert written == sorted(f"tests/architectures/test_net/{name}" for name in runs.graphs)
    assert "architecture written" not in runs.later


def test_the_difference_is_the_message(runs):
    assert message(runs.later, "test_changed") == (
        "AssertionError: tests/architectures/test_net/test_changed.json no longer matches the model.\n"
        "Sequential\n"
        "parameters 20, as before\n"
        "FLOPs 32, as before\n"
        "notable   ReLU replaced by GELU at 1\n"
        "checkpoints load (keys: 2 as before)\n"
        "If that is intended: `pytest --update-architectures` writes it; review and commit it"
    )
    assert "detail    weights frozen ×2 at 0" in message(runs.later, "test_frozen")


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        ("test_other_inputs", "test_other_inputs.json can't be compared: the example inputs differ"),
        ("test_missing", "test_missing.json: expected the committed graph of this model; `pytest --update"),
        ("test_unreadable", "test_unreadable.json: $.version: this file has format version 9.0"),
        ("test_raises", "the forward pass of Broken raised ValueError: no such thing"),
        ("TestNames.test_none", "TestNames::test_none checks several models: give each check a name"),
    ],
)
def test_an_impossible_comparison_says_why(runs, test, problem):
    assert problem in message(runs.later, test)


def test_an_unchanged_model_passes(runs):
    failed = set(re.findall(r"^FAILED tests/test_net.py::(\S+)", runs.later, re.MULTILINE))
    assert failed == {
        "TestNames::test_none",
        *(f"test_{name}" for name in ("changed", "frozen", "other_inputs", "missing", "unreadable", "raises")),
    }


def test_runs_without_the_fixture_import_nothing(tmp_path):
    (tmp_path / "test_lone.py").write_text(LONE, "utf-8")
    report = run(tmp_path)
    assert "1 passed" in report, report
