"""Catalogues: their page, the pages of their models, and links to these."""

from __future__ import annotations

import json
import pickle
import re
from posixpath import join

import pytest
from sphinx.util.inventory import InventoryFile

CATALOGUE = ".. model-catalogue:: nets\n"
REFERENCES = ":model-graph:`nets.Large`, :model-graph:`nets.Conv_#conv`\n"
MODELS = ["nets.Conv_", "nets.Large", "nets.Small", "nets.small"]


def addresses(html: str) -> list[str]:
    """Where the models of a catalogue lead."""
    found = re.search(r"<model-catalogue.*?</model-catalogue>", html, re.DOTALL)
    assert found
    return re.findall(r'<a href="([^"]*)"', found[0])


@pytest.fixture(scope="module")
def built(library, build, tmp_path_factory):
    source = library(
        "extensions += ['sphinx.ext.autodoc']\n"
        "shown = []\n"
        "def setup(app):\n"
        "    # as sphinx-sitemap finds pages\n"
        "    app.connect('html-page-context', lambda app, page, *rest: shown.append(page))\n"
        "    app.connect('build-finished', lambda app, error: (app.outdir / 'shown').write_text(' '.join(shown)))\n",
        models=f"{CATALOGUE[:-1]}, nets.Small\n   :depth: 1\n\n{REFERENCES}",
        own=".. model-graph:: nets.Large\n   :depth: 1\n",
        api=".. automodule:: nets\n   :members:\n   :undoc-members:\n",
    )
    out = tmp_path_factory.mktemp("catalogue") / "out"
    result = build(source, out, "-W")
    assert result.returncode == 0, result.stderr
    return source, out


def test_every_model_has_a_page(built):
    _, out = built
    catalogue = (out / "models.html").read_text("utf-8")
    pages = addresses(catalogue)
    shown = sorted(re.findall(r"models/(nets\.\w+-?)\w*\.html", " ".join(pages)))
    assert shown == [*MODELS[:2], "nets.small-"]  # `nets.Small` is another name of its graph
    page = (out / "models" / "nets.Conv_.html").read_text("utf-8")
    assert "<h1>Conv_<" in page
    assert '<model-graph graph="nets.Conv_-' in page
    assert 'href="../models.html"><span class="doc">models</span></a>' in page
    assert 'data-node="conv"' in page


def test_pages_are_in_search_inventory_and_sitemap_but_in_no_navigation(built):
    _, out = built
    wanted = {path.relative_to(out).with_suffix("").as_posix() for path in (out / "models").glob("*.html")}
    assert len(wanted) == len(MODELS)
    found = re.search(r'docnames:?"?:\[(.*?)\]', (out / "searchindex.js").read_text("utf-8"))
    assert found
    assert wanted <= {*found[1].replace('"', "").split(",")}
    assert wanted <= {*(out / "shown").read_text().split()}
    with (out / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", join)
    assert {f"{page}.html" for page in wanted} <= {
        item.uri.partition("#")[0] for item in inventory["modeldiagrams:diagram"].values()
    } | {"models/nets.Large.html"}  # its author shows it, too
    assert "models/nets" not in (out / "index.html").read_text("utf-8")
    assert (out / "_sources" / "models" / "nets.Large.rst.txt").is_file()


def test_references_prefer_the_diagram_of_an_author(built):
    _, out = built
    page = (out / "models.html").read_text("utf-8")
    assert 'href="own.html#model-graph-nets.Large"' in page
    assert re.search(r'href="models/nets\.Conv_\.html#nets\.Conv_-\w+\?at=conv"', page)


def test_documented_objects_link_to_their_page(built):
    _, out = built
    page = (out / "api.html").read_text("utf-8")
    links = re.findall(r'<p><a class="reference internal" href="([^"]*)"><span>Diagram</span></a></p>', page)
    pages = {path.relative_to(out).as_posix() for path in (out / "models").iterdir()}
    assert {link.partition("#")[0] for link in links} == pages
    objects = dict(re.findall(r'<dt class="sig[^"]*" id="([\w.]+)">(.*?)</dl>', page, re.DOTALL))
    assert "Diagram" not in objects["nets.unrelated"]
    assert "models/nets.small-" in objects["nets.small"]


def test_links_of_documented_objects_are_a_setting(library, build, tmp_path):
    api = ".. autoclass:: nets.Small\n\n.. autoclass:: nets.Large\n"
    pages = {"api": api, "models": ".. model-catalogue:: nets.Small\n", "own": ".. model-graph:: nets.Large\n"}
    for setting, wanted in ((True, {"Small"}), (False, set()), ("all", {"Small", "Large"})):
        conf = f"extensions += ['sphinx.ext.autodoc']\nmodeldiagrams_catalogue_links = {setting!r}"
        out = tmp_path / str(setting)
        result = build(library(conf, **pages), out, "-W")
        assert result.returncode == 0, result.stderr
        html = (out / "api.html").read_text("utf-8")
        found = re.findall(r'href="(?:models/nets|own.html#model-graph-nets)\.(\w+)[^"]*"><span>Diagram<', html)
        assert {*found} == wanted, setting


def test_sources_are_below_the_page_and_out_of_git(built):
    source, _ = built
    written = {path.name for path in (source / "models").iterdir()}
    assert {name.removesuffix(".rst").partition("-")[0] for name in written} == {*MODELS, ".gitignore"}
    ignored = (source / "models" / ".gitignore").read_text().splitlines()
    assert ignored[0].startswith("# Written by modeldiagrams")
    assert {*ignored[1:]} == {f"/{name}" for name in written}


def test_files_of_the_site(built):
    _, out = built
    files = {path.name for path in (out / "modeldiagrams").iterdir()}
    assert {"catalogue.js", "catalogue.css"} <= files
    (data,) = re.findall(r'<model-catalogue [^>]*src="modeldiagrams/([^"]*)"', (out / "models.html").read_text("utf-8"))
    assert data in files
    pictures = re.findall(r'<img src="modeldiagrams/([^"]*)"', (out / "models.html").read_text("utf-8"))
    assert {*pictures} == {name for name in files if name.endswith(".card.svg")}


def test_catalogues_of_a_page_have_their_own_data(library, build, tmp_path):
    source = library("", models="".join(f"{CATALOGUE}   :group-by: {by}\n\n" for by in ("module", "none")))
    assert build(source, tmp_path / "out", "-W").returncode == 0
    files = re.findall(r'<model-catalogue [^>]*src="([^"]*)"', (tmp_path / "out" / "models.html").read_text("utf-8"))
    assert len({*files}) == 2
    assert all((tmp_path / "out" / file).is_file() for file in files)


def test_environment_holds_plain_data(built):
    _, out = built
    file = out.with_name("out.doctrees") / "environment.pickle"
    kept = pickle.loads(file.read_bytes()).domaindata["modeldiagrams"]  # noqa: S301  (just written)
    assert kept["catalogues"]["models"][0]["models"] == MODELS
    assert json.loads(json.dumps(kept)) == kept


def test_catalogues_in_markdown_of_a_site_without_restructuredtext(library, build, tmp_path):
    conf = "extensions += ['myst_parser']\nsource_suffix = {'.md': 'markdown'}\n"
    conf += "myst_fence_as_directive = ['model-catalogue']"
    source = library(conf)
    (source / "index.rst").unlink()
    (source / "index.md").write_text("# Index\n\n```{toctree}\nguide/models\nplain\n```\n")
    (source / "guide").mkdir()
    (source / "guide" / "models.md").write_text(
        "# Models\n\n```{model-catalogue} nets.Small, nets.Conv_\n:depth: 1\n```\n\n{model-graph}`nets.Small`\n"
    )
    (source / "plain.md").write_text("# Plain\n\n```model-catalogue\nof: nets\nexclude: '*Conv_'\n```\n")
    result = build(source, tmp_path / "out", "-W", "-b", "dirhtml")
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "out" / "guide" / "models" / "index.html").read_text("utf-8")
    assert addresses(page) == ["nets.Conv_/", "nets.Small/"]
    assert (tmp_path / "out" / "guide" / "models" / "nets.Conv_" / "index.html").is_file()
    assert 'href="nets.Small/#model-graph-nets.Small"' in page
    assert "nets.Conv_" not in (tmp_path / "out" / "plain" / "index.html").read_text("utf-8")
    assert 'href="../"><span class="doc">Models' in (
        tmp_path / "out" / "guide" / "models" / "nets.Conv_" / "index.html"
    ).read_text("utf-8")


def test_pages_of_authors_are_theirs(library, build, tmp_path):
    own = f"Mine\n====\n\n{'Text. ' * 99}\n\n.. Written by modeldiagrams for a catalogue of models; changes are lost.\n"
    source = library("exclude_patterns = ['**/nets.Conv_*']", models=CATALOGUE)
    (source / "models").mkdir()
    (source / "models" / "nets.Large.rst").write_text(f":orphan:\n\n{own}")
    (source / "models" / ".gitignore").write_text("*.tmp\n")
    result = build(source, tmp_path / "out", "-W")
    assert result.returncode == 0, result.stderr
    assert own in (source / "models" / "nets.Large.rst").read_text()
    assert (source / "models" / ".gitignore").read_text() == "*.tmp\n"
    page = (tmp_path / "out" / "models.html").read_text("utf-8")
    assert "models/nets.Large.html" in addresses(page)
    # what the author excludes has no page
    assert not [*(source / "models").glob("nets.Conv*")]
    assert "nets.Conv_" in page
    assert not [address for address in addresses(page) if "Conv" in address]


def test_included_catalogues_warn_that_models_have_no_pages(library, build, tmp_path):
    source = library(models=".. include:: part.txt\n")
    (source / "part.txt").write_text(CATALOGUE, encoding="utf-8")
    result = build(source, tmp_path / "out")
    (warning,) = [line for line in result.stderr.splitlines() if "WARNING" in line]
    assert "part.txt:1: WARNING: model-catalogue: its models have no pages" in warning
    assert addresses((tmp_path / "out" / "models.html").read_text("utf-8")) == []
