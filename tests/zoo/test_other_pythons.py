"""Newer releases of Python, where this machine has them: the same graph as from the Python that runs the tests."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hosts.environments import environment, listing, make_wheel

ROOT = Path(__file__).parents[2]
TRACE = ("-m", "modeldiagrams", "trace", "tinymodels.Net", "--inputs", "[1, 4]", "-o")


def newer():
    """Version → interpreter, on the path or of pyenv."""
    found = {}
    for version in ("3.12", "3.13"):
        for path in (f"python{version}", *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")):
            code = f"import sys; sys.exit(not sys.version.startswith('{version}'))"
            try:
                runs = subprocess.run([path, "-c", code], check=False, capture_output=True).returncode == 0
            except FileNotFoundError:
                continue
            if runs and not sys.version.startswith(version):
                found[version] = path
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return make_wheel(tmp_path_factory.mktemp("wheel"))


def graph_lines(path):
    """All but the versions of Python and of PyTorch, whose build for it may be another."""
    return re.sub(r'"(python|torch)": "[\d.+\w]+"', "", path.read_text("utf-8"))


@pytest.mark.parametrize(("version", "interpreter"), newer().items(), ids=newer())
def test_newer_python_gives_the_same_graph(version, interpreter, wheel, tmp_path):
    constraints = ("-c", ROOT / "constraints.txt")
    python = environment(tmp_path / "venv", f"{wheel}[torch]", *constraints, interpreter=interpreter)
    assert "numpy" not in listing(python)
    for name, runs in {"here": sys.executable, version: python}.items():
        subprocess.run([runs, *TRACE, tmp_path / f"{name}.json"], cwd=ROOT / "tests", check=True)
    assert graph_lines(tmp_path / f"{version}.json") == graph_lines(tmp_path / "here.json")
    subprocess.run([python, "-m", "modeldiagrams", "render", "here.json", "-o", "here.svg"], cwd=tmp_path, check=True)
    assert "blocks" in (tmp_path / "here.svg").read_text("utf-8")
