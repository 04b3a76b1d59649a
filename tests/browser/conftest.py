"""A small site with diagrams, opened in headless Chromium from disk and over http."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from browser.pages import Press, write_site
from browser.serving import served
from modeldiagrams.engine.builder import DiagramBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("MODELDIAGRAMS_CHROMIUM") or shutil.which("chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run"]
VIEWPORT = {"width": 900, "height": 700}


@pytest.fixture(scope="session")
def press(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Press]:
    """Makes finished diagrams of graphs."""
    folder = tmp_path_factory.mktemp("graphs")
    with DiagramBuilder(None, folder=folder) as maker:
        yield Press(folder, maker)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, press: Press) -> Path:
    """The folder of a built site."""
    folder = tmp_path_factory.mktemp("site")
    write_site(folder, press)
    return folder


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[str]:
    """The site's address over http."""
    with served(site) as address:
        yield address


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(params=["file", "http"])
def address(request: pytest.FixtureRequest, site: Path) -> str:
    """The URL of the site: on disk, then over http."""
    return str(site.as_uri() if request.param == "file" else request.getfixturevalue("server"))


class Reader:
    """A browser page with its requests and errors."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url.rpartition("/")[2]))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def node(self, node: str, diagram: int = 0):
        """The drawn node with this id."""
        return self.page.locator("model-graph").nth(diagram).locator(f'.mg-stage [data-id="{node}"]')

    def header(self, node: str, diagram: int = 0):
        """The part of an expanded node that can be clicked."""
        return self.node(node, diagram).locator("> .mg-header")

    def evaluate(self, script: str, diagram: int = 0):
        """The value of a JavaScript function of a diagram's element."""
        return self.page.locator("model-graph").nth(diagram).evaluate(script)


@contextmanager
def _reader(chromium: Browser, **context: object) -> Iterator[Reader]:
    with chromium.new_context(**{"viewport": VIEWPORT, **context}) as opened:
        reader = Reader(opened.new_page())
        yield reader
        assert not reader.errors


@pytest.fixture
def reader(chromium: Browser) -> Iterator[Reader]:
    """A reader with an ordinary browser. No page may raise an error."""
    with _reader(chromium) as reader:
        yield reader


@pytest.fixture
def reader_with(chromium: Browser):
    """Makes readers with other browsers: ``reader_with(java_script_enabled=False)``."""
    return partial(_reader, chromium)
