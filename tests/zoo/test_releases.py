"""The documentation of a package in three git tags, built by Sphinx and by mike, and compared by a reader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from browser.conftest import ARGUMENTS, CHROMIUM
from browser.controls import button
from browser.readers import Readers
from browser.serving import served

BUILD = Path(__file__).parents[2] / "docs" / "releases" / "build.py"
PAGES = {"sphinx": "sphinx/2.0/index.html", "mkdocs": "mkdocs/2.0/", "alias": "mkdocs/latest/"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    output = tmp_path_factory.mktemp("releases")
    subprocess.run([sys.executable, BUILD, output], check=True)
    with served(output) as address:
        yield address


@pytest.fixture(scope="module")
def reader():
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        with Readers(chromium).open() as found:
            yield found
        chromium.close()


@pytest.mark.parametrize("host", PAGES)
def test_a_diagram_is_compared_with_an_earlier_release(site, reader, host):
    reader.page.goto(f"{site}/{PAGES[host]}")
    reader.node("stem").hover()
    button(reader, "More controls").click()
    reader.page.locator(".mg-menu").get_by_text("Compare with another version").click()
    reader.page.get_by_label("Compare with").select_option("1.0")
    changes = reader.page.locator(".mg-change-list")
    changes.wait_for()
    assert "ReLU replaced by GELU" in changes.inner_text()
    assert "ChannelAttention added" in changes.inner_text()


@pytest.mark.parametrize("page", ["sphinx/2.0/changes.html", "mkdocs/2.0/changes/"])
def test_a_page_tells_what_changed(site, reader, page):
    reader.page.goto(f"{site}/{page}")
    text = reader.page.locator("body").inner_text()
    assert "parameters 56.9K → 138K" in text
    assert "renamed: fc → head" in text
    assert [word for word in ("v1.0", "v1.1", "v2.0") if word not in text] == []
