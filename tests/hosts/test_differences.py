"""Comparisons in every host: list and picture, all models at once, and bad input."""

from __future__ import annotations

import re
import subprocess

import pytest

from graphs import changed_graph, small_graph
from modeldiagrams.ir.serialize import save

BAD = {
    "missing": "model-diff!model: net.json",
    "unreadable": "model-diff!model: net.json\nbefore: broken.json",
    "no-file": "model-diff!model: net.json\nbefore: nothing.json",
    "no-revision": "model-diff!model: net.json\nbefore: v9",
    "no-address": "model-diff!model: net.json\nbefore: http://127.0.0.1:9/net.json",
    "elsewhere": "model: net.json\nbefore: changed.json",
    "no-such-folder": "model-changes!since nowhere",
    "two-words": "model-changes!since the beginning",
    "no-tag": "model-history!net.json",
    "no-snapshot": "model-history!mypkg.Nothing since v1",
    "no-since": "model-history!mypkg.Net v1",
}
DIFF = "model-diff!model: changed.json\nbefore: net.json\nname: what-changed\ncaption: Since *then*."


def history(folder):
    """Make the folder a repository with the release v1, which has the old graph of mypkg.Net."""
    graph = folder / "now" / "mypkg.Net.json"
    now = graph.read_bytes()
    save(small_graph(), graph)
    names = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "-A"], [*names, "commit", "-q", "-m", "v1"], ["tag", "v1"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    graph.write_bytes(now)


@pytest.fixture(scope="module")
def site(build_site, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    for name, graphs in {
        "old": {"mypkg.Net": small_graph(), "mypkg.Gone": small_graph(), "mypkg.Same": small_graph()},
        "now": {"mypkg.Net": changed_graph(), "mypkg.New": small_graph(), "mypkg.Same": small_graph()},
    }.items():
        (folder / name).mkdir()
        for model, graph in graphs.items():
            save(graph, folder / name / f"{model}.json")
    history(folder)
    pages = {
        "index": [DIFF],
        "history": ["model-history!mypkg.Net"],
        "all": ["model-changes!since old"],
        "again": ["model-diff!model: net.json\nbefore: net.json"],
    }
    return build_site({**pages, **{name: [body] for name, body in BAD.items()}}, snapshots=str(folder / "now"))


def test_list_and_picture_link_to_each_other(site):
    page = site.page("index")
    assert "Since <em>then</em>." in page
    found = re.search(r'<li id="what-changed-change-0"><a class="mg-mark" href="#(.*?)".*?>(.)</a>', page)
    assert found[2] == "~"
    assert re.search(rf'<a class="[^"]*mg-change" id="{found[1]}" href="#what-changed-change-0"', page)
    assert "relu → gelu" in page
    assert page.count("<svg") == 1
    assert "mg-problem" not in page


def test_a_comparison_is_not_listed_as_a_diagram(site):
    assert not (site.data / "changed.json").exists()
    assert "changed.json" not in (site.data / "index.json").read_text("utf-8")


def test_the_picture_is_interactive(site):
    page = site.page("index")
    tag = re.search(r"<model-graph [^>]*>", page)[0]
    graph = re.search(r' graph="([^"]*)"', tag)[1]
    assert f'modeldiagrams/{graph}.js"' in tag
    assert ' changes="what-changed"' in tag
    assert (site.data / f"{graph}.js").exists()
    assert (site.data / "compare.js").exists()
    assert "model-graph.js" in page


def test_no_change_is_a_sentence_without_a_picture(site):
    assert "no change" in site.page("again")
    assert "<svg" not in site.page("again")


def test_all_models_of_a_documentation(site):
    page = re.sub(r"<[^>]*>", "", site.page("all"))
    page = re.sub(r"\s+", " ", page)
    assert "mypkg.Net" in page
    assert "~ notable op relu replaced by gelu" in page
    assert "mypkg.New: new: there is no graph to compare with" in page
    assert "mypkg.Gone: gone" in page
    assert "mypkg.Same" not in page
    assert "1 changed, 1 new, 1 gone, 1 as before" in page


def test_one_model_in_all_releases(site):
    page = site.page("history")
    assert page.count("<svg") == 1  # FLOPs are not counted
    head, *rows = [re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", row)) for row in page.split("<tr")[1:]]
    assert "Version Date Parameters FLOPs Changes" in head
    assert "first shown" in rows[0]
    assert "unreleased" in rows[1]
    assert "notable: op relu replaced by gelu" in rows[1]


@pytest.mark.parametrize("name", BAD)
def test_one_located_warning_and_a_note(name, site, host, tmp_path_factory):
    kind = BAD[name].partition("!")[0] if BAD[name].startswith(("model-changes", "model-history")) else "model-graph"
    found = [line for line in site.log.splitlines() if f"{host.location(name)}{kind}: " in line]
    assert len(found) == 1, site.log
    page = site.page(name)
    assert "Before." in page
    assert "After." in page
    assert str(tmp_path_factory.getbasetemp()) not in page


def test_build_goes_on(site):
    assert not site.has_failed
    assert "Traceback (most" not in site.log
