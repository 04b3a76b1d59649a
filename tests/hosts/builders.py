"""Builds sites with Sphinx and MkDocs, and has the sites that several test files build."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from graphs import small_graph
from hosts.fork_server import ForkServer
from modeldiagrams.ir.serialize import save

TESTS = Path(__file__).parents[1]

Build = Callable[..., subprocess.CompletedProcess[str]]


def copy_site(host: str, folder: Path, *, graph: str) -> Path:
    """A copy of a host's sample site, with models and a graph file."""
    shutil.copytree(TESTS / host / "site", folder)
    copy_models(folder)
    save(small_graph(), folder / graph)
    return folder


def copy_models(folder: Path) -> None:
    """Puts `tinymodels` into a folder."""
    shutil.copytree(TESTS / "tinymodels", folder / "tinymodels", ignore=shutil.ignore_patterns("__pycache__"))


def sphinx_build(server: ForkServer) -> Build:
    """Runs ``sphinx-build``."""

    def run(source: Path, out: Path, *arguments: str, doctrees: Path | None = None, verbosity: str = "-q", **options):
        doctrees = doctrees or out.with_name(f"{out.name}.doctrees")
        return server.run([verbosity, "-d", str(doctrees), *arguments, str(source), str(out)], **options)

    return run


def mkdocs_build(server: ForkServer) -> Build:
    """Runs ``mkdocs build``."""

    def run(source: Path, out: Path, *arguments: str, config: str = "mkdocs.yml", **options):
        return server.run(["build", "-f", str(source / config), "-d", str(out), *arguments], **options)

    return run
