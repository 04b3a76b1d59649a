"""Every host makes the same figures, notes and files from the same pages."""

from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from html import unescape
from typing import Any
from urllib.parse import unquote, urljoin

import pytest

from samples import png
from site_figures import read_figures

NET = "model: net.json"
FIGURE = f"{NET}\ncaption: The *net* of this page.\nname: the-net\nalign: center\nclass: wide"
SAID = (
    f"{NET}\nno-index: true\nrename: {{fc: Projection}}\nhide: [relu]\n"
    'notes: {fc: "A *layer*, at <https://example.org>.", x: Two}\n'
    "embed: {x: map.png, output: {image: map.png, alt: The <end>}}"
)
PAGES = {
    "index": [FIGURE],
    "other": [f"{NET}\ndirection: LR\nno-index: true", f"{NET}\nstatic: true\nno-index: true\ntable: true"],
    "plain": [],
    "said": [SAID],
}
LATE = {
    "cases.js",
    "catalogue.js",
    "code.js",
    "compare.js",
    "explore.js",
    "lenses.js",
    "menu.js",
    "notes.js",
    "prose.js",
    "recording.js",
    "sizes.js",
}
SCRIPTS = {"core.js", "model-graph.js", "viz.js", *LATE}
VIEWER = {*SCRIPTS, "catalogue.css", "model-graph.css", "third-party-notices.txt"}
PACKAGE = {"element.mjs", "element.d.mts", "package.json"}


@pytest.fixture(scope="module")
def site(build_site):
    site = build_site(PAGES)
    assert not site.has_failed, site.log
    return site


def test_diagram_is_a_figure_with_caption_and_anchor(site):
    page = site.page("index")
    figure = re.search(r'<figure class="([^"]*)" id="the-net">(.*?)</figure>', page, re.DOTALL)
    assert set(figure[1].split()) == {"mg-figure", "wide", "align-center"}
    assert "The <em>net</em> of this page." in figure[2]
    assert re.search(r'<model-graph graph="net.json" [^>]*class="mg-align-center"', figure[2])
    assert 'class="mg-problem"' not in page


def test_text_around_a_diagram_stays(site):
    page = site.page("index")
    assert page.index("Before.") < page.index("<model-graph") < page.index("After.")


def test_every_asset_is_where_the_page_looks_for_it(site):
    for name, url in site.urls.items():
        page = site.page(name)
        found = re.findall(r'(?:src|href)="([^"]*modeldiagrams/[^"]*)"', page)
        assert bool(found) == ("<model-graph" in page)
        for asset in found:
            target = unquote(urljoin(f"/{url}", asset))
            assert (site.folder / target.removeprefix("/")).is_file(), f"{url} → {asset}"


def test_page_without_diagram_has_no_assets(site):
    assert "model-graph" not in site.page("plain")


def test_static_diagram_beside_another_has_no_data(site):
    page = site.page("other")
    assert page.count("<model-graph") == 2
    assert page.count("<model-graph graph=") == 1


def test_notes_are_in_the_picture_and_below_it(site):
    page = site.page("said")
    svg = re.search(r"<svg.*?</svg>", page, re.DOTALL)[0]
    assert re.findall(r'class="mg-name"[^>]*>([^<]*)<', svg) == ["x", "Projection", "output"]
    assert re.findall(r'class="mg-times"[^>]*>([^<]*)<', svg) == ["2", "1"]
    assert "(shown as “Projection”, note 1)" in page
    (notes,) = re.findall(r'<ol class="[^"]*mg-notes">(.*?)</ol>', page, re.DOTALL)
    prefix = re.search(r' notes="([^"]*)"', page)[1]
    assert re.findall(r'<li id="([^"]*)"', notes) == [f"{prefix}-note-1", f"{prefix}-note-2"]
    assert "<em>layer</em>" in notes
    assert re.search(r'<a [^>]*href="https://example.org"', notes)
    assert page.count("modeldiagrams/notes.js") == 1
    assert "notes.js" not in site.page("index")


def test_images_are_thumbnails_and_below_the_picture_in_full_size(site):
    page = site.page("said")
    svg = re.search(r"<svg.*?</svg>", page, re.DOTALL)[0]
    assert re.findall(r'data-image="(.*?)"><title>(.*?)</title>', svg) == [
        ("1", "Picture of x"),
        ("2", "The &lt;end&gt;"),
    ]
    prefix = re.search(r' notes="([^"]*)"', page)[1]
    listed = page[page.index('class="mg-images mg-in-dialog') :]
    images = [dict(re.findall(r'(src|alt)="([^"]*)"', image)) for image in re.findall(r"<img [^>]*>", listed)]
    data = f"data:image/png;base64,{base64.b64encode(png()).decode()}"
    assert [(image["src"], unescape(image["alt"])) for image in images] == [(data, "Picture of x"), (data, "The <end>")]
    for number, node in enumerate(("input:x", "output:output"), start=1):
        assert listed.index(f'id="{prefix}-image-{number}"') < listed.index(node)
    assert "mg-images" not in site.page("index")


def test_table_has_a_row_for_each_module(site):
    (table,) = re.findall(r'<table class="mg-rows.*?</table>', site.page("other"), re.DOTALL)
    assert re.findall(r"<th scope=.row.[^>]*>(.*?)</th>", table) == ["Net", "fc"]
    assert re.findall(r"<td[^>]*>(.*?)</td>", table)[-6:] == ["<code>Linear</code>", "1×2", "8", "8", "–", "1"]
    assert "mg-rows" not in site.page("index")


def test_folder_holds_viewer_index_and_files_of_each_diagram(site):
    ids = {entry["id"] for entry in index(site)}
    assert len(ids) == 3
    diagrams = {f"{name}{suffix}" for name in ids for suffix in (".js", ".json", ".txt")}
    assert {file.name for file in site.data.iterdir()} == {*VIEWER, *PACKAGE, "index.json", *diagrams}


def index(site) -> list[dict[str, Any]]:
    return json.loads((site.data / "index.json").read_text("utf-8"))["diagrams"]


def test_index_names_page_and_graph_of_every_diagram(site):
    pages = [page.partition("#")[0] for entry in index(site) for page in entry["pages"]]
    others = [site.urls["other"]] * pages.count(site.urls["other"])
    assert sorted(pages) == [site.urls["index"], *others, site.urls["said"]]
    assert site.urls["other"] in pages
    for entry in index(site):
        for page, _, anchor in (url.partition("#") for url in entry["pages"]):
            assert not anchor or f'id="{anchor}"' in (site.folder / page).read_text("utf-8")
        assert json.loads((site.data / f"{entry['id']}.json").read_text("utf-8"))["format"] == "modeldiagrams"
    assert read_figures(site.data).keys() == {entry["id"] for entry in index(site)}


def test_output_holds_no_path_of_this_machine(site):
    for file in site.folder.rglob("*"):
        if file.is_file() and file.suffix != ".pickle":
            assert str(site.folder.parent).encode() not in file.read_bytes(), file


def test_site_without_diagram_has_no_folder(build_site):
    assert not build_site({"index": []}).data.exists()


def test_static_site_carries_no_script(build_site):
    site = build_site({"index": [NET]}, static_only=True, css_variables={"--mg-line": "var(--edge)"})
    page = site.page("index")
    assert "<svg" in page
    assert "model-graph.js" not in page
    assert {file.name for file in site.data.iterdir()} == {
        *("index.json", "catalogue.css", "model-graph.css", "net.json.json", "net.json.txt")
    }
    css = (site.data / "model-graph.css").read_text("utf-8")
    assert css.endswith("\nmodel-graph{--mg-line:var(--edge);}\n")


def test_site_defaults_apply_unless_a_diagram_overrides_them(build_site):
    site = build_site({"index": [NET, f"{NET}\nalign: left\nno-index: true"]}, defaults={"align": "right"})
    assert re.findall(r'class="mg-align-(\w+)"', site.page("index")) == ["right", "left"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"defaults": {"dept": 1}}, "option `dept`: unknown; did you mean 'depth'?"),
        ({"on_error": "ignore"}, "ignore"),
        ({"timeout": 0}, "timeout"),
    ],
)
def test_wrong_setting_ends_the_build(settings, message, build_site):
    site = build_site({"index": []}, **settings)
    assert site.has_failed
    assert message in site.log
    assert "Traceback (most" not in site.log


def test_placeholder_is_a_note_without_a_warning(build_site):
    site = build_site({"index": ["missing.json"]}, on_error="placeholder")
    assert not site.has_failed
    assert 'class="mg-problem"' in site.page("index")
    assert not site.log


def test_nowarn_silences_one_diagram(build_site, host):
    site = build_site({"index": ["model: missing.json\nnowarn: true"], "other": ["missing.json"]})
    assert 'class="mg-problem"' in site.page("index")
    (line,) = site.log.splitlines()
    assert host.location("other") in line


def test_raise_ends_the_build_and_says_where(build_site, host):
    site = build_site({"index": ["missing.json"]}, on_error="raise")
    assert site.has_failed
    location = host.location("index").removesuffix("WARNING: ")
    assert f"{location}model-graph: missing.json: expected a readable graph file" in site.log
    assert "Traceback (most" not in site.log


def test_next_build_takes_page_data_from_the_cache(build_site, tmp_path):
    cache = tmp_path / "cache"
    first = build_site({"index": [NET]}, cache_dir=str(cache))
    for kept in cache.glob("*.page.json.gz"):
        kept.write_bytes(gzip.compress(b'"as kept"'))
    second = build_site({"index": [NET]}, cache_dir=str(cache))
    assert packed_in(second.data / "net.json.js") == "as kept"
    assert (second.data / "net.json.txt").read_text("utf-8") == "as kept"
    assert unpacked(packed_in(first.data / "net.json.js")).startswith('{"graph":{')


def packed_in(script):
    return script.read_text().partition(",'")[2].removesuffix("');\n")


def unpacked(text):
    return zlib.decompress(base64.b85decode(text.translate(str.maketrans(",./:[]", "&<>`{}")))).decode()
