"""Builds of small Sphinx sites, each in a process of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from graphs import small_graph
from hosts.builders import Build, copy_site, sphinx_build
from hosts.fork_server import Tools
from modeldiagrams.ir.serialize import save


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the fixture site, with graph file and models."""
    return copy_site("sphinx", tmp_path_factory.mktemp("sphinx") / "source", graph="net.json")


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


@pytest.fixture(scope="session")
def build(tools: Tools) -> Build:
    """Runs ``sphinx-build``."""
    return sphinx_build(tools["sphinx"])
