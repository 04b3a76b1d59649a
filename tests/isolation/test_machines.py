"""Machines that lack something: every picture is drawn, or one sentence says why not."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hosts.builders import copy_models

GOLDEN = Path(__file__).parents[1] / "golden"
PATIENCE = 300
POOR = {
    "HOME": os.devnull,
    "XDG_CACHE_HOME": os.devnull,
    "LC_ALL": "C",
    "http_proxy": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
}
"""No home that could be written, no locale, no network."""
SPACE = (
    "drawing needs 256 GB of address space, of which it uses little, but this process may take 0.5 GB;"
    " `ulimit -v unlimited` lifts the limit"
)


def one_core():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def little_address_space():
    resource.setrlimit(resource.RLIMIT_AS, (2**29, 2**29))


def full_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


@pytest.fixture
def folder(tmp_path):
    """A project in a folder whose name has spaces and other letters, with a page for Sphinx and MkDocs."""
    folder = tmp_path / "mein Ordner ü"
    (folder / "docs").mkdir(parents=True)
    copy_models(folder)
    for place in (folder, folder / "docs"):
        shutil.copy(GOLDEN / "residual.json", place)
    (folder / "conf.py").write_text("extensions = ['sphinx_modeldiagrams']\nexclude_patterns = ['out']\n", "utf-8")
    (folder / "index.rst").write_text("Net\n===\n\n.. model-graph:: residual.json\n", "utf-8")
    (folder / "mkdocs.yml").write_text("site_name: x\nplugins: [modeldiagrams]\n", "utf-8")
    (folder / "docs" / "index.md").write_text("# Net\n\n```model-graph\nresidual.json\n```\n", "utf-8")
    return folder


def run(folder, machine, *words):
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, **POOR, "NO_MKDOCS_2_WARNING": "1"},
        preexec_fn=machine,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=PATIENCE,
        check=False,
    )


def test_command_draws_with_one_core_no_home_no_locale_and_no_network(folder):
    done = run(folder, one_core, "modeldiagrams", "show", "tinymodels.Net", "--inputs", "[1, 4]", "-o", "ü net.svg")
    assert done.returncode == 0, done.stderr
    assert "blocks" in (folder / "ü net.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("machine", "message"), [(little_address_space, SPACE), (full_disk, "[Errno 27] File too large")]
)
def test_a_command_that_cannot_draw_says_so_in_one_sentence(folder, machine, message):
    done = run(folder, machine, "modeldiagrams", "render", "residual.json", "-o", "net.svg")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"Error: {message}")
    assert not (folder / "net.svg").exists()


@pytest.mark.parametrize("words", [("sphinx", "-q", ".", "out"), ("mkdocs", "build", "-d", "out")], ids=lambda w: w[0])
@pytest.mark.parametrize("machine", [one_core, little_address_space])
def test_page_is_built_and_says_what_is_missing(folder, words, machine):
    done = run(folder, machine, *words)
    assert done.returncode == 0, done.stderr
    page = (folder / "out" / "index.html").read_text("utf-8")
    assert ("<svg" in page) is (machine is one_core)
    assert (SPACE in done.stderr) is (machine is little_address_space), done.stderr
