"""Diagrams in themes of MkDocs, and with common plugins."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser.pages import encoder
from browser.serving import served
from hosts.builders import mkdocs_build
from hosts.fork_server import Tools
from modeldiagrams.ir.serialize import save

FENCE = "```model-graph\nmodel: net.json\ndepth: 0\n```\n"
INSIDE = FENCE.replace("\n", "\n    ")
PAGES = {
    "index": f"# Front\n\n{FENCE}\n[To the second page](second.md)\n",
    "second": f"# Second\n\n{FENCE}",
    "styles": f"""# Styles

=== "First"

    A word.

=== "Other"

    {INSIDE}
??? note "Closed"

    {INSIDE}
In an annotation. (1)
{{ .annotate }}

1.  Here:

    {INSIDE}
""",
}
COMMON = "site_name: x\nmarkdown_extensions: [admonition, attr_list, md_in_html, pymdownx.details, {tabs}]\n".format(
    tabs="pymdownx.tabbed: {alternate_style: true}"
)
SITES = {
    "instant": """
theme:
  name: material
  font: false
  features: [navigation.instant, navigation.instant.prefetch, content.code.annotate, search.highlight]
  palette:
    - {scheme: default, toggle: {icon: material/weather-night, name: To dark}}
    - {scheme: slate, toggle: {icon: material/weather-sunny, name: To light}}
site_url: ADDRESS/instant/
plugins:
  - search
  - privacy: {assets_exclude: [unpkg.com/*]}  # Material's own script would have Mermaid fetched
  - minify: {minify_html: true, htmlmin_opts: {remove_comments: true}}
  - modeldiagrams
""",
    "offline": """
theme: {name: material, font: false, features: [content.code.annotate]}
plugins: [search, offline, modeldiagrams]
""",
    "mkdocs": """
theme: {name: mkdocs, color_mode: auto, user_color_mode_toggle: true}
plugins: [search, modeldiagrams]
""",
}


@pytest.fixture(scope="module")
def sites(tmp_path_factory, tools: Tools) -> Iterator[tuple[Path, str]]:
    """The folder of the same pages in every theme, and its address."""
    folder = tmp_path_factory.mktemp("themes")
    (folder / "docs").mkdir()
    for name, text in PAGES.items():
        (folder / "docs" / f"{name}.md").write_text(text)
    save(encoder("Net", layers=2), folder / "docs" / "net.json")
    build = mkdocs_build(tools["mkdocs"])
    with served(folder) as address:
        for name, config in SITES.items():
            (folder / f"{name}.yml").write_text(COMMON + config.replace("ADDRESS", address))
            result = build(folder, folder / name, "-q", "--strict", config=f"{name}.yml")
            assert result.returncode == 0, result.stderr
        yield folder, address


@pytest.fixture
def instant(sites) -> str:
    """Material's site with instant navigation, below the root of its host."""
    return f"{sites[1]}/instant"


def opens(reader, diagram: int = 0) -> None:
    """A click expands a module."""
    reader.node("layers.0", diagram).click()
    reader.node("layers.0.mlp", diagram).wait_for()


def without_highlighter(reader) -> None:
    """The `mkdocs` theme's own pages raise errors without a network."""
    script = {"content_type": "text/javascript", "body": "window.hljs = {highlightAll() {}}"}
    reader.page.route("**/highlight.min.js", lambda route: route.fulfill(**script))


def test_instant_navigation_there_and_back(instant, reader):
    reader.page.goto(f"{instant}/")
    reader.page.evaluate("window.stayed = true")
    opens(reader)
    for way in ("link", "back", "forward", "back"):
        if way == "link":
            reader.page.get_by_role("link", name="To the second page").click()
        else:
            reader.page.evaluate(f"history.{way}()")
        title = "Front" if way == "back" else "Second"
        reader.page.get_by_role("heading", name=title).wait_for()
        opens(reader)
    assert reader.page.evaluate("window.stayed"), "the page was loaded again"


def test_diagram_follows_the_palette_live(instant, reader):
    reader.page.goto(f"{instant}/")
    colour = "e => getComputedStyle(e.shadowRoot.querySelector('.mg-stage text')).fill"
    opens(reader)
    light = reader.evaluate(colour)
    reader.page.locator("label[title='To dark']").click()
    reader.page.locator("[data-md-color-scheme=slate] model-graph").wait_for()
    assert reader.evaluate(colour) != light
    assert reader.node("layers.0.mlp").is_visible()


@pytest.mark.parametrize("site", SITES)
def test_initially_hidden_diagrams_work_once_visible(site, sites, reader):
    without_highlighter(reader)
    reader.page.goto(f"{sites[1]}/{site}/styles{'.html' if site == 'offline' else '/'}")
    if site == "mkdocs":  # has no script for tabs and annotations: everything is visible
        opens(reader, 0)
    else:
        assert not reader.node("layers.0", 0).is_visible()
        reader.page.get_by_text("Other", exact=True).click()
        opens(reader, 0)
    reader.page.get_by_text("Closed", exact=True).click()
    opens(reader, 1)
    if site != "mkdocs":
        # Material animates its mark forever, and its tooltip while it opens
        reader.page.locator(".md-annotation__index").click(force=True)
    reader.node("layers.0", 2).wait_for()
    reader.node("layers.0", 2).dispatch_event("click")
    reader.node("layers.0.mlp", 2).wait_for(state="attached")


def test_offline_site_works_from_disk(sites, reader):
    reader.page.goto(f"{(sites[0] / 'offline').as_uri()}/index.html")
    opens(reader)


def test_diagram_follows_the_mkdocs_themes_colour_mode(sites, reader_with):
    colour = "e => getComputedStyle(e.shadowRoot.querySelector('.mg-stage text')).fill"
    seen = []
    for scheme in ("light", "dark"):
        with reader_with(color_scheme=scheme) as reader:
            without_highlighter(reader)
            reader.page.goto(f"{sites[1]}/mkdocs/")
            opens(reader)
            seen.append(reader.evaluate(colour))
            reader.page.evaluate("document.documentElement.dataset.bsTheme = 'light'")
            assert reader.evaluate(colour) == seen[0]
    assert seen[0] != seen[1]


@pytest.mark.parametrize("site", SITES)
def test_search_finds_layers_and_no_data(site, sites):
    folder = sites[0] / site / "search"
    index = json.loads((folder / "search_index.json").read_text("utf-8"))
    text = " ".join(entry["text"] for entry in index["docs"])
    assert "layers.0" in text
    assert "Attention" in text
    assert "adjacency" not in text
    assert "modelDiagramsData" not in text


def test_search_result_leads_to_a_layer(instant, reader):
    reader.page.goto(f"{instant}/second/")
    reader.page.locator("label[for=__search]").first.click()
    reader.page.get_by_role("textbox", name="Search").press_sequentially("embed")
    reader.page.locator(".md-search-result__link").first.click()
    reader.page.locator(".md-content mark").first.wait_for(state="attached")
    assert "embed" in reader.node("embed").text_content()


def test_privacy_and_minify_plugins_leave_diagrams_unchanged(sites):
    """Nothing is downloaded, and minified HTML has the same picture."""
    pictures = []
    for site in ("instant", "mkdocs"):
        page = (sites[0] / site / "index.html").read_text("utf-8")
        (fragment,) = re.findall(r"<model-graph.*?</model-graph>", page, re.DOTALL)
        pictures.append(re.findall(r"<(?:path|rect|text|tspan|g) [^>]*", fragment))
    assert len(pictures[0]) == len(pictures[1]) > 20
    assert not (sites[0] / "instant" / "assets" / "external").exists()
