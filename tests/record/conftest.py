"""A project with models, tests, an example and documentation, whose calls are recorded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

PROJECT = Path(__file__).parent / "project"


class Run(NamedTuple):
    """What a command printed, and the file of calls after it."""

    status: int
    printed: str
    file: str


def run(folder: Path, *words: str, module: str = "modeldiagrams") -> Run:
    """Run `python -m modeldiagrams …` in a project."""
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    file = folder / "docs" / "model-calls.yaml"
    return Run(done.returncode, done.stdout + done.stderr, file.read_text("utf-8") if file.exists() else "")


def run_tests(folder: Path, *flags: str, tests: tuple[str, ...] = ("tests",)) -> Run:
    """Record what the project's tests call."""
    return run(folder, "record", *flags, "--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """The project after its calls were recorded; tests that change it take a copy."""
    folder = Path(shutil.copytree(PROJECT, tmp_path_factory.mktemp("recorded") / "project"))
    return folder, run_tests(folder)


@pytest.fixture
def project(recorded: tuple[Path, Run], tmp_path: Path) -> Path:
    """A copy of the recorded project."""
    return Path(shutil.copytree(recorded[0], tmp_path / "project"))
