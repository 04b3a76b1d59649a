"""MkDocs pages with both values of `use_directory_urls`: fences anywhere, links, search."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urljoin

import pytest

from mkdocs_modeldiagrams.plugin import _list_files_for_print_page

PAGES = ("index.html", "guide/deep", "api", "plain")


@pytest.fixture(scope="module", params=["directories", "files"])
def html(request, site, build, tmp_path_factory) -> Path:
    """The site with both values of ``use_directory_urls``."""
    config = site / "mkdocs.yml"
    before = config.read_text()
    config.write_text(f"{before}\nuse_directory_urls: {str(request.param == 'directories').lower()}\n")
    out = tmp_path_factory.mktemp(request.param)
    result = build(site, out, "--strict")
    config.write_text(before)
    assert result.returncode == 0, result.stderr
    assert "torch is loaded: False" in result.stdout
    return out


def pages(folder: Path) -> dict[str, str]:
    """URL of every page → its text."""
    found = {}
    for page in PAGES:
        files = (page, f"{page}.html", f"{page}/index.html")
        url = next(name for name in files if (folder / name).is_file())
        found[page] = (url, (folder / url).read_text("utf-8"))
    return found


def test_fences_work_in_admonitions_and_lists(html):
    _, page = pages(html)["guide/deep"]
    assert page.count("<model-graph") == 2
    assert re.search(r'<figure class="mg-figure narrow" id="by-header">', page)
    assert re.search(r'<div class="admonition note">.*?<model-graph.*?</div>', page, re.DOTALL)


def test_quoted_fence_stays_code(html):
    _, page = pages(html)["guide/deep"]
    assert "```model-graph" in re.sub(r"<[^>]*>", "", page)


def test_class_links_to_its_documentation_under_its_public_name(html):
    url, page = pages(html)["guide/deep"]
    link = re.search(r'<a class="autorefs autorefs-internal" [^>]*href="([^"]*)"><code>Linear</code></a>', page)
    assert link
    assert urljoin(f"/{url}", link[1]).removesuffix("/#torch.nn.Linear").removesuffix(".html#torch.nn.Linear") == "/api"
    assert "<autoref" not in page


def test_every_asset_is_where_the_page_looks_for_it(html):
    for url, page in pages(html).values():
        found = re.findall(r'(?:src|href)="?([^" >]*modeldiagrams/[^" >]*)', page)
        assert bool(found) == ("<model-graph" in page)
        for asset in found:
            target = unquote(urljoin(f"/{url}", asset))
            assert (html / target.removeprefix("/")).is_file(), f"{url} → {asset}"


def test_search_finds_layer_names_but_no_data(html):
    index = json.loads((html / "search" / "search_index.json").read_text())
    text = " ".join(entry["text"] for entry in index["docs"])
    assert "fc" in re.sub(r"<[^>]*>", " ", text).split()
    assert "adjacency" not in text
    assert "modelDiagramsData" not in text


def test_page_content_has_no_inline_json(html):
    # Material's instant navigation would run it as a script
    for _, page in pages(html).values():
        assert "application/json" not in page.split("<article")[1].split("</article")[0]


def test_builds_in_two_processes_are_byte_identical(site, build, tmp_path):
    for name, seed in (("one", "1"), ("two", "2")):
        shutil.rmtree(site / ".cache", ignore_errors=True)
        assert build(site, tmp_path / name, fresh=True, PYTHONHASHSEED=seed).returncode == 0
    one, two = (
        {
            file.relative_to(tmp_path / name): file.read_bytes()
            for file in (tmp_path / name).rglob("*")
            # MkDocs itself writes the time of the build into the archive
            if file.is_file() and file.suffix != ".gz"
        }
        for name in ("one", "two")
    )
    assert one == two


def test_print_site_loads_the_viewer_on_its_page_of_all_pages():
    """That page has no folder of its own in the addresses of the pages that it copies."""
    config = SimpleNamespace(plugins={"print-site": None}, extra_css=["a.css"], extra_javascript=[])
    for _ in range(2):  # a site in several languages is built once for each
        _list_files_for_print_page(config)
    assert config.extra_css == ["a.css", "modeldiagrams/model-graph.css"]
    assert config.extra_javascript == ["modeldiagrams/model-graph.js"]
