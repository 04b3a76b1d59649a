"""`mkdocs serve` updates the page of an edited model, and runs nothing else."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PATIENCE = 300
"""Seconds until a server that does not answer as expected is given up."""

FENCE = "```model-graph\nmodel: {}.Net\ninputs: [1, 4]\n```\n"


@contextlib.contextmanager
def serving(site: Path, log: Path) -> Iterator[str]:
    """URL of the site, served below the root of its host as its `site_url` says; what it tells is in a file."""
    (site / "mkdocs.yml").write_text(
        "site_name: served\nsite_url: https://example.org/sub/\nplugins: [modeldiagrams]\n"
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [sys.executable, "-m", "mkdocs", "serve", "-f", site / "mkdocs.yml", "-a", address]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"}
    with log.open("w") as err, subprocess.Popen(command, env=environment, stderr=err) as server:
        yield f"http://{address}/sub/"
        server.terminate()


@pytest.fixture
def served(site, tmp_path) -> Iterator[tuple[str, Path]]:
    """URL of a site with models of all kinds, and the file of its log."""
    unasked = FENCE.format("half").replace("model-graph", "model-graph-if-possible")
    (site / "docs" / "index.md").write_text(
        f"# Net\n\n{FENCE.format('tinymodels')}\n{FENCE.format('later')}\n{unasked}"
    )
    (site / "half.py").write_text("class Net(:")
    (site / "docs" / "guide" / "deep.md").write_text(
        "# Other\n\n```model-graph\nmodel: torch.nn.ReLU\ninputs: [1]\n```\n"
    )
    with serving(site, tmp_path / "log") as url:
        yield url, tmp_path / "log"


def read(url: str) -> str:
    """The page; empty while there is none."""
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:  # noqa: S310  (our own server)
            return answer.read().decode()
    except (urllib.error.URLError, ConnectionError):
        return ""


def wait_for(get: Callable[[], str], text: str) -> str:
    """Wait until a text appears, and return all of it."""
    got = ""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        got = get()
        if text in got:
            return got
        time.sleep(0.2)
    pytest.fail(f"never got {text!r}; it was:\n{got[-2000:]}")


def test_serve_updates_pages_of_edited_models_and_traces_nothing_else(served, site):
    url, log = served
    page = wait_for(lambda: read(url), "<model-graph")
    script = url + page.split("<model-graph")[1].split(' src="')[1].split('"')[0]
    data = script.removesuffix(".js") + ".json"
    assert "tanh" not in wait_for(lambda: read(data), "relu")
    wait_for(log.read_text, "Serving on")
    built = log.read_text()
    traced = re.findall(r"tracing (\S+)", built)  # several at the same time
    assert sorted(traced) == ["half.Net", "later.Net", "tinymodels.Net", "torch.nn.ReLU"]
    assert "no module named 'later'" in built
    source = site / "tinymodels" / "__init__.py"
    source.write_text(source.read_text().replace("x = block(x)", "x = block(x).tanh()"))
    wait_for(lambda: read(data), "tanh")
    again = wait_for(lambda: log.read_text()[len(built) :], "Reloading browsers")
    # neither what could be made and was not edited, nor what could not be made and would not go better now
    assert re.findall(r"tracing (\S+)", again) == ["tinymodels.Net"]
    assert "no module named 'later'" in again

    # a module that is new, and a mended one of a documented class
    net = "from tinymodels import Block as Net\n\n__all__ = ['Net']\n"
    (site / "later.py").write_text(net)
    (site / "half.py").write_text(net)
    page = wait_for(lambda: read(url) if read(url).count("<model-graph") == 3 else "", "<model-graph")
    assert "mg-problem" not in page


def test_serve_follows_what_a_catalogue_lists(site, tmp_path):
    log = tmp_path / "log"
    (site / "docs" / "index.md").write_text("# Front\n")
    (site / "docs" / "guide" / "deep.md").write_text("# Zoo\n\n```model-catalogue\nof: shelf\ninputs: [1, 4]\n```\n")
    models = "from tinymodels import Net\n\nclass {}(Net):\n    pass\n"
    with serving(site, log) as url:
        wait_for(log.read_text, "Serving on")
        assert "no module named 'shelf'" in log.read_text()
        for name in ("First", "Second"):
            (site / "shelf.py").write_text(models.format(name))
            wait_for(lambda name=name: read(f"{url}guide/deep/shelf.{name}/"), "<model-graph")
            assert f"shelf.{name}/" in read(f"{url}guide/deep/")
        assert not read(f"{url}guide/deep/shelf.First/")
