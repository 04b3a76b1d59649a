"""A small site with diagrams, opened in headless Chromium from disk and over http."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from browser.pages import Press, write_site
from browser.readers import Reader, Readers
from browser.serving import served
from modeldiagrams.engine.builder import DiagramBuilder
from samples import some

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from hosts.fork_server import Tools

CHROMIUM = (
    os.environ.get("MODELDIAGRAMS_CHROMIUM")
    # Chromium without windows, which takes a fifth less
    or shutil.which("chromium-headless-shell")
    or shutil.which("chromium")
)
_FEATURES = (
    # Playwright's own choice, which ours replaces
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    # suggestions below the address bar: two processes for every window
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    # what paints shares the browser's process: 6 % less CPU
    "--in-process-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
    f"--disable-features={','.join(_FEATURES)}",
    # pages of one site take turns in one process
    "--process-per-site",
    "--renderer-process-limit=1",
]


@pytest.fixture(scope="module", autouse=True)
def _one_template(tools: Tools) -> Iterator[None]:
    with tools.lending():
        yield


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


# most tests read the site over http
@pytest.fixture(params=some(["file", "http"], {"file"}))
def address(request: pytest.FixtureRequest, site: Path) -> str:
    """The URL of the site on disk, and in the zoo also over http."""
    return str(site.as_uri() if request.param == "file" else request.getfixturevalue("server"))


@pytest.fixture(scope="session")
def readers(chromium: Browser) -> Readers:
    return Readers(chromium)


@pytest.fixture
def reader(readers: Readers, request: pytest.FixtureRequest) -> Iterator[Reader]:
    """A reader with an ordinary browser."""
    with readers.open(listens=request.node.get_closest_marker("requests") is not None) as reader:
        yield reader


@pytest.fixture
def reader_with(readers: Readers):
    """Makes readers with other browsers: ``reader_with(java_script_enabled=False)``."""
    return readers.open
