"""One sentence says what is wrong with the interpreter in the option `python`."""

from __future__ import annotations

import sys
import venv

import pytest

from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.worker import Worker
from modeldiagrams.worker.protocol import _MARK


@pytest.fixture
def problem(tmp_path):
    """What is wrong with making a diagram by an interpreter."""

    def found(python: str) -> str:
        with DiagramBuilder(None, folder=tmp_path) as builder:
            made = builder.build(parse_options({"model": "torch.nn.Identity", "inputs": "[1, 4]", "python": python}))
        assert made.problem.kind == "worker"
        return made.problem.message

    return found


def test_missing_interpreter_is_one_sentence(problem):
    message = problem("nowhere/bin/python")
    start = "torch.nn.Identity: importing PyTorch failed: option `python`: expected a Python interpreter, got '"
    assert message.startswith(start)
    assert message.endswith("nowhere/bin/python': No such file or directory")


def test_interpreter_without_modeldiagrams_is_one_sentence(problem, tmp_path):
    venv.create(tmp_path / "empty", with_pip=False)
    message = problem("empty/bin/python")
    assert "expected modeldiagrams " in message
    assert "(" in message
    assert "No module named" in message
    assert message.endswith("install it there")
    assert len(message.splitlines()) == 1


def test_interpreter_with_another_version_is_one_sentence(problem, tmp_path):
    package = tmp_path / "other" / "modeldiagrams"
    (package / "worker").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "worker" / "__init__.py").write_text("")
    (package / "worker" / "__main__.py").write_text(
        "import sys, msgspec\n"
        "content = msgspec.msgpack.encode({'type': 'Hello', 'version': '9.9', 'libraries': [], 'new': 1})\n"
        f"sys.stdout.buffer.write({_MARK!r} + len(content).to_bytes(8) + content)\n"
    )
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={package.parent} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    message = problem("./python")
    assert "but 9.9 in the environment of" in message
    assert message.endswith("install the same version in both")


def test_import_path_excludes_our_libraries(tmp_path):
    paths = Worker(sys.executable)._import_path([tmp_path])
    assert paths[0] == str(tmp_path)
    assert not [entry for entry in paths if entry.endswith("site-packages")]
    assert [entry for entry in Worker()._import_path([]) if entry.endswith("site-packages")]


def test_interpreter_name_is_looked_up_in_path(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "python9").write_text("")
    (tmp_path / "python9").chmod(0o755)
    with DiagramBuilder(None, folder=tmp_path) as builder:
        options = {"model": "x.Y", "python": "python9"}
        assert builder.tracing.interpreter(parse_options(options)) == str(tmp_path / "python9")
        assert builder.tracing.interpreter(parse_options({"model": "x.Y"})) is None
