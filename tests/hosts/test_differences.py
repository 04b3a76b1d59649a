"""Comparisons in every host: list and picture, all models at once, and bad input."""

from __future__ import annotations

import re
import subprocess

import msgspec
import pytest

from graphs import changed_graph, small_graph
from hosts.hosts import MarkdownHost
from modeldiagrams.engine.diagram_ids import make_diagram_id
from modeldiagrams.ir.graph import Status
from modeldiagrams.ir.serialize import save
from modeldiagrams.options.parsing import parse_options

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
NO_PYTHON = "python: no/such/python"
"""Without an interpreter, pages show snapshots."""
DIFF = "model-diff!model: changed.json\nbefore: net.json\nname: what-changed\ncaption: Since *then*."


def body_of(name):
    """``Net 4`` is the model `mypkg.Net` with an input of four values."""
    model, _, size = name.partition(" ")
    return f"model: mypkg.{model}\n{NO_PYTHON}" + (f"\ninputs: [{size}]" if size else "")


def write_snapshots(folder, graphs):
    folder.mkdir(exist_ok=True)
    for name, graph in graphs.items():
        values = dict(line.split(": ", 1) for line in body_of(name).splitlines() if line != NO_PYTHON)
        save(graph, folder / f"{make_diagram_id(parse_options(values))}.json")


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
    none = msgspec.structs.replace(small_graph(), status=Status(state="hierarchy"))
    old, now = small_graph(), changed_graph()
    write_snapshots(folder / "old", {"Net": old, "Net 4": old, "Net 8": old, "Same": old, "Part": none, "Unshown": old})
    write_snapshots(folder / "now", {"Net": now, "Net 4": now, "Net 8": old, "Same": old, "Part": old, "Unshown": now})
    save(old, folder / "old" / "mypkg.Gone.json")
    write_snapshots(folder / "now", {"New": old})
    history(folder)
    pages = {
        "index": [DIFF],
        "history": ["model-history!mypkg.Net"],
        "all": ["model-changes!since old"],
        "nets": [body_of(name) for name in ("Net", "Net 4", "Net 8", "Same", "New", "Part")],
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


def test_changelog_has_one_entry_for_each_model_that_pages_show(site, host):
    page = site.page("all")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", page))
    knows_pages = not isinstance(host, MarkdownHost)
    assert text.count("mypkg.Net") == 1
    assert text.count("~ notable op relu replaced by gelu") == (1 if knows_pages else 2)
    assert "mypkg.New: new" in text
    assert "mypkg.Gone: no longer shown" in text
    assert "mypkg.Same" not in text
    assert "1 model is as before." in text
    assert "Not compared, because one version has no complete graph of the same call: mypkg.Part." in text
    assert ("mypkg.Unshown" in text) is not knows_pages
    assert "$" not in text.partition("Before.")[2].partition("After.")[0]
    assert not re.search(r"mypkg\.\w+-[0-9a-f]{8}", text)
    assert bool(re.search(r'href="[^"]*nets[^"]*"[^>]*>\s*<(b|strong)>mypkg.Net</', page)) is knows_pages


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
