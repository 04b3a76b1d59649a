"""Features of Sphinx's HTML that no other host has: figure numbers, several builders, translations."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urljoin

import pytest

from graphs import small_graph
from modeldiagrams.ir.serialize import save

NET = ".. model-graph:: net.json\n"
PAGES = {
    "html": ("index.html", "guide/deep.html", "guide/myst.html", "plain.html"),
    "dirhtml": ("index.html", "guide/deep/index.html", "guide/myst/index.html", "plain/index.html"),
    "singlehtml": ("index.html",),
}


@pytest.fixture(scope="module")
def html(site, build, tmp_path_factory) -> Path:
    return _built(site, build, tmp_path_factory, "html")


def _built(site, build, tmp_path_factory, builder) -> Path:
    out = tmp_path_factory.mktemp(builder) / "out"
    result = build(site, out, "-b", builder, "-W", "-n")
    assert result.returncode == 0, result.stderr
    assert "torch is loaded: False" in result.stdout
    return out


def read(folder: Path, page: str) -> str:
    return (folder / page).read_text("utf-8")


def test_figure_is_numbered(html):
    page = read(html, "index.html")
    assert re.search(r'id="the-net">.*?Fig. 1', page, re.DOTALL)


def test_numref_and_ref_point_to_the_diagram(html):
    page = read(html, "index.html")
    assert re.search(r'href="#the-net"><span class="std std-numref">Fig. 1</span>', page)
    assert re.search(r'href="#the-net"><span class="std std-ref">here it is</span>', page)


def test_myst_fence_and_yaml_body_make_diagrams(html):
    assert 'id="from-myst"' in read(html, "guide/myst.html")
    deep = read(html, "guide/deep.html")
    assert deep.count("<model-graph") == 2
    assert "Options as a body." in deep


def test_notes_are_a_list_in_the_markup_of_the_page(html):
    deep = read(html, "guide/deep.html")
    (notes,) = re.findall(r'<ol class="[^"]*mg-notes">(.*?)</ol>', deep, re.DOTALL)
    assert notes.count("<li id=") == 2
    assert "An <em>input</em> of the option." in notes
    assert '<span class="math' in notes
    assert 'href="../index.html#the-net"' in notes
    assert "<li><p>a list</p></li>" in notes
    assert re.findall(r'class="mg-times"[^>]*>([^<]*)<', deep) == ["1", "2", "2"]
    assert "<strong>layer</strong> of <a " in read(html, "guide/myst.html")


def test_class_links_to_its_documentation_under_its_public_name(html):
    page = read(html, "guide/deep.html")
    assert 'href="../api.html#torch.nn.Linear"' in page
    assert re.search(r'<a class="reference internal" [^>]*><code>Linear</code></a>', page)


@pytest.mark.parametrize("builder", PAGES)
def test_every_asset_is_where_the_page_looks_for_it(builder, site, build, tmp_path_factory, request):
    folder = request.getfixturevalue("html") if builder == "html" else _built(site, build, tmp_path_factory, builder)
    for page in PAGES[builder]:
        html = read(folder, page)
        found = re.findall(r'(?:src|href)="([^"]*modeldiagrams/[^"]*)"', html)
        assert bool(found) == ("<model-graph" in html)
        for url in found:
            target = unquote(urljoin(f"/{page}", url))
            assert (folder / target.removeprefix("/")).is_file(), f"{page} → {url}"


def test_assets_policy_always_loads_the_viewer_on_all_pages(make_site, build, tmp_path):
    conf = 'html_theme = "furo"\n\ndef setup(app):\n    app.set_html_assets_policy("always")'
    source = make_site(conf, page=NET, plain="No diagram.")
    folder = source / "deep"
    folder.mkdir()
    (folder / "page.rst").write_text(":orphan:\n\nDeep\n====\n")
    assert build(source, tmp_path / "out", "-W").returncode == 0
    for page in ("plain.html", "search.html"):
        html = read(tmp_path / "out", page)
        assert '<link rel="stylesheet" href="modeldiagrams/model-graph.css">' in html
        assert '<script src="modeldiagrams/model-graph.js" defer></script>' in html
    assert 'src="../modeldiagrams/model-graph.js"' in read(tmp_path / "out", "deep/page.html")
    # which has no pages to name them in
    data = build(source, tmp_path / "json", "-W", "-b", "json", doctrees=tmp_path / "out.doctrees")
    assert data.returncode == 0, data.stderr


def test_singlehtml_links_inside_the_page(site, build, tmp_path):
    out = tmp_path / "out"
    assert build(site, out, "-b", "singlehtml", "-W").returncode == 0
    page = read(out, "index.html")
    assert page.count("<model-graph") == 4
    assert page.count('href="#torch.nn.Linear"') >= 4
    assert 'id="torch.nn.Linear"' in page


def test_class_links_to_another_project(html, build, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    inventory = {"torch": ("https://pytorch.example", str(html / "objects.inv"))}
    (source / "conf.py").write_text(
        f'extensions = ["sphinx.ext.intersphinx", "sphinx_modeldiagrams"]\nintersphinx_mapping = {inventory}\n'
    )
    save(small_graph(), source / "net.json")
    (source / "index.rst").write_text("Net\n===\n\n.. model-graph:: net.json\n")
    result = build(source, tmp_path / "out", "-W", "-n")
    assert result.returncode == 0, result.stderr
    link = 'class="reference external" href="https:/&#47;pytorch.example/api.html#torch.nn.Linear"'
    assert link in read(tmp_path / "out", "index.html")


def test_caption_and_text_alternative_are_translated(make_site, build, tmp_path):
    words = {"A picture.": "Ein Bild.", "A *net*.": "Ein *Netz*."}
    options = "   :alt: A picture.\n   :caption: A *net*.\n"
    source = make_site('language = "de"\nlocale_dirs = ["locale"]', page=f".. model-graph:: net.json\n{options}")
    catalogues = source / "locale" / "de" / "LC_MESSAGES"
    catalogues.mkdir(parents=True)
    entries = [f'msgid "{original}"\nmsgstr "{translated}"\n' for original, translated in words.items()]
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'
    (catalogues / "page.po").write_text("\n".join([header, *entries]), "utf-8")
    result = build(source, tmp_path / "out", "-W")
    assert result.returncode == 0, result.stderr
    page = read(tmp_path / "out", "page.html")
    assert 'aria-label="Ein Bild."' in page
    assert "Ein <em>Netz</em>." in page


def test_search_finds_layer_names_but_no_data(html):
    index = read(html, "searchindex.js")
    assert '"fc"' in index
    assert "adjac" not in index
