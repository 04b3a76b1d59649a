"""Words that refer to parts of a page's diagrams, in every host."""

from __future__ import annotations

import html
import json
import re

import pytest

from hosts.hosts import SphinxHost

RST = {
    "index": "Look at :model:part:`the layer <fc>` and :model:part:`net.json#/relu`.",
    "no-such-part": "Look at :model:part:`fcc`.",
    "no-such-model": "Look at :model:part:`this <other.json#fc>`.",
}
MARKDOWN = {
    "index": "Look at [the *layer*](model:#fc) and [`/relu`](model:net.json#/relu).",
    "no-such-part": "Look at [`fcc`](model:fcc).",
    "no-such-model": "Look at [this](model:other.json#fc).",
}


@pytest.fixture(scope="module")
def site(host, build_site):
    words = RST if isinstance(host, SphinxHost) else MARKDOWN
    pages = {name: [f"raw!{text}\n", "model: net.json"] for name, text in words.items()}
    still = {"still": [f"raw!{words['index']}\n", "model: net.json\nstatic: true\nname: still"]}
    hidden = {"hidden": [f"raw!{words['no-such-part'].replace('fcc', 'fc')}\n", "model: net.json\nhide: [fc]"]}
    unlisted = {"unlisted": [f"raw!{words['index']}\n", "model: net.json\nno-index: true"]}
    return build_site({**pages, **still, **hidden, **unlisted, "plain": ["model: net.json\ndepth: 0"]})


def links(page):
    """Attributes of the links to parts."""
    found = re.findall(r'<a class="[^"]*mg-part"([^>]*)>', page)
    return [{name: html.unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', text)} for text in found]


def test_words_highlight_their_nodes(site):
    page = site.page("index")
    assert [json.loads(link["data-mg-nodes"]) for link in links(page)] == [["fc"], ["/relu"]]
    assert all(f'graph="{link["data-mg-graph"]}"' in page for link in links(page))


@pytest.mark.parametrize("name", ["index", "still", "unlisted"])
def test_words_link_to_the_picture_without_a_script(site, name):
    page = site.page(name)
    assert len(links(page)) == 2
    for link in links(page):
        assert f'id="{link["href"].removeprefix("#")}"' in page


def test_the_widget_follows_links_to_modules(site):
    assert links(site.page("index"))[0]["href"].endswith("?at=fc")


def test_pages_load_the_script_once_if_needed(site):
    assert site.page("index").count("prose.js") == 1
    assert "prose.js" not in site.page("plain")
    assert "prose.js" not in site.page("still")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no-such-part", "no module matches 'fcc'; did you mean 'fc'?"),
        ("hidden", "the picture has no 'fc': the option `hide` leaves it out"),
        ("no-such-model", "expected a diagram of other.json on this page, which has net.json"),
    ],
)
def test_an_unknown_part_is_a_warning_and_plain_text(site, name, message):
    assert re.search(rf"{name}\.\w+.*{re.escape(message)}", site.log), site.log
    assert links(site.page(name)) == []
    assert not site.has_failed
