"""Builds of small MkDocs sites, each in a process of its own as users run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hosts.builders import Build, copy_site, mkdocs_build
from hosts.fork_server import Tools


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the fixture site, with graph file and models."""
    return copy_site("mkdocs", tmp_path_factory.mktemp("mkdocs") / "source", graph="docs/net.json")


@pytest.fixture(scope="session")
def build(tools: Tools) -> Build:
    """Runs ``mkdocs build``."""
    return mkdocs_build(tools["mkdocs"])
