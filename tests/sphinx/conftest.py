"""Builds of small Sphinx sites, each in a process of its own as users run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
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
        (source / "conf.py").write_text(f'extensions = ["sphinx_modeldiagrams"]\nhtml_theme = "basic"\n{conf}\n')
        for name, text in pages.items():
            (source / f"{name}.rst").write_text(f"{name}\n{'=' * len(name)}\n\n{textwrap.dedent(text)}\n")
        if "index" not in pages:
            toctree = "".join(f"   {name}\n" for name in pages)
            (source / "index.rst").write_text(f"Index\n=====\n\n.. toctree::\n\n{toctree}")
        save(small_graph(), source / "net.json")
        return source

    return make


@pytest.fixture(scope="session")
def build() -> Build:
    """Runs ``sphinx-build``."""

    def run(source: Path, out: Path, *arguments: str, doctrees: Path | None = None, **environment: str):
        command = [sys.executable, "-m", "sphinx", "-q", "-d", doctrees or out.with_name(f"{out.name}.doctrees")]
        return subprocess.run(
            [*command, *arguments, source, out],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
            env={**os.environ, "NO_COLOR": "1", **environment},
        )

    return run
