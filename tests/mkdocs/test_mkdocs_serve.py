"""`mkdocs serve`: an edit of a model reaches the page."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

PATIENCE = 60
"""Seconds until a server that does not answer as expected is given up."""


@pytest.fixture
def served(site) -> Iterator[str]:
    """URL of the site, served."""
    (site / "docs" / "index.md").write_text("# Net\n\n```model-graph\nmodel: tinymodels.Net\ninputs: [1, 4]\n```\n")
    (site / "docs" / "guide" / "deep.md").unlink()
    (site / "mkdocs.yml").write_text("site_name: served\nplugins: [modeldiagrams]\n")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [sys.executable, "-m", "mkdocs", "serve", "-q", "-f", site / "mkdocs.yml", "-a", address]
    with subprocess.Popen(command, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}) as server:
        yield f"http://{address}/"
        server.terminate()


def wait_for(url: str, text: str) -> str:
    """The page, as soon as it holds the text."""
    page = ""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:  # noqa: S310  (our own server)
                page = answer.read().decode()
        except (urllib.error.URLError, ConnectionError):
            page = ""
        if text in page:
            return page
        time.sleep(0.2)
    pytest.fail(f"{url} never held {text!r}; it was:\n{page[-2000:]}")


def test_edited_model_is_traced_again(served, site):
    page = wait_for(served, "<model-graph")
    data = served + page.split("<model-graph")[1].split(' src="')[1].split('"')[0]
    assert "tanh" not in wait_for(data, "relu")
    time.sleep(0.5)  # the server begins to watch after its first build
    source = site / "tinymodels" / "__init__.py"
    source.write_text(source.read_text().replace("x = block(x)", "x = block(x).tanh()"))
    wait_for(data, "tanh")
