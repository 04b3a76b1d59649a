"""Every host shows the same catalogue, and those with pages have one for each of its models."""

from __future__ import annotations

import re
from html import unescape

import pytest

from hosts.hosts import MarkdownHost
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.catalogue.build import build_catalogue
from modeldiagrams.engine.catalogue.listing import list_models
from modeldiagrams.html.catalogue_page import render_catalogue
from modeldiagrams.options.catalogue import read_catalogue_text

BODY = "of: [tinymodels.Net, tinymodels.Chatty, tinymodels.RaisesInInit]\ninputs: [1, 4]\n"
PAGES = {"index": [], "guide/zoo": [f"model-catalogue!{BODY}"]}


@pytest.fixture(scope="module")
def site(build_site):
    return build_site(PAGES)


def table(html: str) -> str:
    """The table of a catalogue, without addresses."""
    found = re.search(r'<table class="mg-catalogue">.*?\n</table>', html, re.DOTALL)[0]
    return re.sub(r'</?a\b[^>]*>| (src)="[^"]*/', "", found)


def test_table_is_that_of_the_library(site, tmp_path):
    (tmp_path / "tinymodels").symlink_to(site.folder.with_name("source") / "tinymodels")
    options = read_catalogue_text({}, BODY)
    with DiagramBuilder(None, folder=tmp_path, paths=[tmp_path]) as builder:
        found = build_catalogue(builder, options, {}, list_models(builder, options, {}))
    assert table(site.page("guide/zoo")) == table(render_catalogue(found, assets="x/", page_of=lambda _: None))


def test_failing_models_are_one_warning(site, host):
    warnings = [line for line in site.log.splitlines() if "model-catalogue" in line]
    assert len(warnings) == 1
    assert warnings[0].split("model-catalogue")[0].endswith(host.location("guide/zoo"))
    assert "tinymodels.RaisesInInit" in warnings[0]
    assert "model-graph: " not in site.log, "their pages are silent"


def test_each_model_has_a_page(site, host):
    links = re.findall(r'<th scope="row"><a href="([^"]*)">(.*?)</a>', site.page("guide/zoo"))
    names = [] if isinstance(host, MarkdownHost) else ["Chatty", "Net", "RaisesInInit"]
    assert sorted(name for _, name in links) == names
    for address, name in links:
        page = (site.folder / "guide" / unescape(address)).read_text("utf-8")
        assert f'<model-graph graph="tinymodels.{name}-' in page or 'class="mg-problem"' in page
        assert 'href="../zoo.html"' in page
