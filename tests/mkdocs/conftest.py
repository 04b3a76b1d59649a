"""Builds of small MkDocs sites, each in a process of its own as users run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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
    source = tmp_path_factory.mktemp("mkdocs") / "source"
    shutil.copytree(HERE / "site", source)
    shutil.copytree(HERE.parent / "tinymodels", source / "tinymodels", ignore=shutil.ignore_patterns("__pycache__"))
    save(small_graph(), source / "docs" / "net.json")
    return source


@pytest.fixture(scope="session")
def build() -> Build:
    """Runs ``mkdocs build``."""

    def run(source: Path, out: Path, *arguments: str, config: str = "mkdocs.yml", **environment: str):
        return subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "-f", source / config, "-d", out, *arguments],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
            env={**os.environ, "NO_COLOR": "1", "NO_MKDOCS_2_WARNING": "1", **environment},
        )

    return run
