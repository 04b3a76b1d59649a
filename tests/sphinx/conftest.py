"""Builds of small Sphinx sites, each in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphs import small_graph
from modeldiagrams.serialize import save

HERE = Path(__file__).parent
TIMEOUT = 120

Build = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the fixture site, with graph file and models."""
    source = tmp_path_factory.mktemp("sphinx") / "source"
    shutil.copytree(HERE / "site", source)
    shutil.copytree(HERE.parent / "tinymodels", source / "tinymodels", ignore=shutil.ignore_patterns("__pycache__"))
    save(small_graph(), source / "net.json")
    return source


@pytest.fixture(scope="module")
def make_site(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Writes a site of its own: name → text; `conf` is put behind what every site needs, `net.json` is there."""

    def make(conf: str = "", **pages: str) -> Path:
        source = tmp_path_factory.mktemp("site") / "source"
        source.mkdir()
        # most of these sites show the same picture
        common = f'html_theme = "basic"\nmodeldiagrams_cache_dir = {str(tmp_path_factory.getbasetemp() / "pictures")!r}'
        (source / "conf.py").write_text(f'extensions = ["sphinx_modeldiagrams"]\n{common}\n{conf}\n')
        for name, text in pages.items():
            (source / f"{name}.rst").write_text(f"{name}\n{'=' * len(name)}\n\n{textwrap.dedent(text)}\n")
        if "index" not in pages:
            toctree = "".join(f"   {name}\n" for name in pages)
            (source / "index.rst").write_text(f"Index\n=====\n\n.. toctree::\n\n{toctree}")
        save(small_graph(), source / "net.json")
        return source

    return make


# importing Sphinx takes longer than most of these builds: it is done once, in a process that builds nothing itself
_FORKING = f"""
import importlib, json, os, signal, sys
from sphinx.application import builtin_extensions
from sphinx.cmd.build import main

for name in (*builtin_extensions, "sphinx.ext.autosummary", "sphinx.ext.napoleon", "myst_parser"):
    importlib.import_module(name)
import sphinx_modeldiagrams
for line in sys.stdin:
    arguments, stdout, stderr = json.loads(line)
    child = os.fork()
    if not child:
        signal.alarm({TIMEOUT})
        for number, file in enumerate((os.devnull, stdout, stderr)):
            os.dup2(os.open(file, os.O_RDWR), number)
        sys.exit(main(arguments))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="session")
def forking() -> Iterator[subprocess.Popen[str]]:
    """A process with Sphinx in it, whose children build."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", _FORKING], text=True, env=_environment(), **pipes) as process:
        yield process
        process.stdin.close()


@pytest.fixture(scope="session")
def build(forking) -> Build:
    """Runs ``sphinx-build``; with an environment of its own as users do, or else without loading Sphinx again."""

    def run(source: Path, out: Path, *arguments: str, doctrees: Path | None = None, **environment: str):
        doctrees = doctrees or out.with_name(f"{out.name}.doctrees")
        given = ["-q", "-d", str(doctrees), *arguments, str(source), str(out)]
        if environment:
            command = [sys.executable, "-m", "sphinx", *given]
            env = _environment(**environment)
            return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False, env=env)
        with tempfile.NamedTemporaryFile("r") as stdout, tempfile.NamedTemporaryFile("r") as stderr:
            print(json.dumps([given, stdout.name, stderr.name]), file=forking.stdin, flush=True)
            code = int(forking.stdout.readline())
            return subprocess.CompletedProcess(given, code, stdout.read(), stderr.read())

    return run


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", **more}
