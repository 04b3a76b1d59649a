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

NETS = '''
"""Small networks."""
from torch import nn

class Small(nn.Module):
    """A small one."""
    width = 8
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, self.width)
    def forward(self, x):
        return self.fc(x).relu()

class Large(Small):
    width = 256

class Conv_(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
    def forward(self, x):
        return self.conv(x)

def small() -> Small:
    """Makes a small one."""
    return Small()

def unrelated():
    """Makes nothing."""
'''


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


@pytest.fixture(scope="module")
def library(make_site: Callable[..., Path]) -> Callable[..., Path]:
    """Writes a site with a module of models, as `make_site` does."""

    def make(conf: str = "", nets: str = NETS, **pages: str) -> Path:
        source = make_site(
            f"import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parent))\n{conf}", **pages
        )
        (source / "nets.py").write_text(nets)
        return source

    return make


@pytest.fixture(scope="session")
def build(tools: Tools) -> Build:
    """Runs ``sphinx-build``."""
    return sphinx_build(tools["sphinx"])
