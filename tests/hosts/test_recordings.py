"""Recordings of trainings on the page of the model, in every host."""

from __future__ import annotations

import html
import re

import pytest

NET = "model: net.json"
PAGES = {
    "shown": [f"{NET}\nrecording: run.mdwatch"],
    "twice": [f"{NET}\nrecording: [run.mdwatch, again.mdwatch]"],
    "still": [f"{NET}\nrecording: run.mdwatch\nstatic: true"],
    "index": [NET],
    "missing": [f"{NET}\nrecording: walk.mdwatch"],
    "broken": [f"{NET}\nrecording: map.png"],
}


@pytest.fixture(scope="module")
def site(build_site):
    return build_site(PAGES)


@pytest.mark.parametrize("name", ["shown", "still"])
def test_findings_are_text(site, name):
    (run,) = re.findall(r'<div class="mg-recorded-run">(.*?)</div>', site.page(name), re.DOTALL)
    told = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", run)).split())
    assert told.startswith("Training: run.mdwatch Step 20, loss 0.25. Step 20, fc : NaN in the output")


def test_several_recordings_follow_each_other(site):
    assert site.page("twice").count('class="mg-recorded-run"') == 2


def test_only_interactive_diagrams_show_a_training(site):
    page = site.page("shown")
    assert re.search(r'<model-graph [^>]*recording=""', page)
    assert (site.data / "recording.js").exists()
    for name in ("still", "index"):
        assert not re.search(r'<model-graph [^>]*recording=""', site.page(name))


def test_a_page_without_recording_has_none(site):
    assert "mg-recorded-run" not in site.page("index")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "option `recording`: walk.mdwatch: expected a recording that can be read: No such file"),
        ("broken", "option `recording`: map.png: expected a recording, which begins with 'mdwatch1'"),
    ],
)
def test_a_file_that_is_not_a_recording_is_a_located_warning(site, name, message):
    assert re.search(rf"{name}\.\w+:\d+: .*{re.escape(message)}", site.log), site.log
    assert "<model-graph" in site.page(name)
