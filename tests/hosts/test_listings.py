"""The code of a model next to its picture, in every host."""

from __future__ import annotations

import html
import json
import re

import pytest

from hosts.hosts import SphinxHost

MODEL = "model: tinymodels.Net\ninputs: {x: [1, 4]}\ndepth: 0"
SOURCES = {"index": ["", "blocks.0"], "elsewhere": ["Linear"], "nothing": ["Net"]}


@pytest.fixture(scope="module")
def site(host, build_site):
    def source(target):
        if isinstance(host, SphinxHost):
            return f"raw!.. model-source:: {target}\n"
        return f"raw!```model-source\n{target}\n```\n"

    pages = {name: [MODEL, *map(source, targets)] for name, targets in SOURCES.items()}
    still = [f"{MODEL}\nstatic: true", source("")]
    above = [source("blocks.0"), MODEL, source("")]
    return build_site({**pages, "nothing": [source("Net")], "still": still, "above": above})


def listings(page):
    """For each listing, its lines: text and the ids of their nodes."""
    return [
        [(_text(line), _nodes(line)) for line in re.split(r'(?=<(?:a|span) class="mg-line")', code)[1:]]
        for code in re.findall(r'<div class="highlight mg-listing".*?</pre></div>', page, re.DOTALL)
    ]


def _nodes(line):
    found = re.search(r'data-mg-nodes="([^"]*)"', line)
    return json.loads(html.unescape(found[1])) if found else []


def _text(line):
    return html.unescape(re.sub(r"<[^>]+>", "", line)).strip()


def test_lines_link_to_the_nodes_they_make(site):
    model, block = listings(site.page("index"))
    calls = ["blocks.0", "blocks.1"]
    assert [ids for _, ids in model] == [[], calls, calls, []]
    assert model[1][0] == "for block in self.blocks:"
    assert block[1][0] == "return x + self.linear(x).relu()"
    assert block[1][1][0] == "blocks.0.linear"
    assert len(block[1][1]) == 3


def test_listings_work_above_and_below_their_diagram(site):
    page = site.page("above")
    block, model = listings(page)
    assert [block, model] == listings(site.page("index"))[::-1]
    first, second = (found.start() for found in re.finditer('mg-listing"', page))
    assert first < page.index("<model-graph") < second
    assert "mg-source" not in page


@pytest.mark.parametrize("name", ["index", "still"])
def test_lines_link_to_the_picture_without_a_script(site, name):
    page = site.page(name)
    fragments = set(re.findall(r'<a class="mg-line" href="#([^"]+)"', page))
    assert len(fragments) == 1
    (at,) = [found.start() for found in re.finditer(rf'id="{re.escape(*fragments)}"', page)]
    assert at < page.index("<model-graph")


def test_the_page_loads_the_script(site):
    assert "modeldiagrams/prose.js" in site.page("index")
    assert "prose.js" not in site.page("still")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("elsewhere", "model-source: the code is in torch/nn/modules/linear.py, which is not one of your files"),
        ("nothing", "model-source: expected a diagram on this page, which has none"),
    ],
)
def test_missing_code_is_a_located_warning(site, name, message):
    assert re.search(rf"{name}\.\w+:\d+: .*{re.escape(message)}", site.log), site.log
