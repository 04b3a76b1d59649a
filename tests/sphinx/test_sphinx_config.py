"""Settings in `conf.py` are checked at the start and apply everywhere."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.ir.serialize import save
from sphinx_modeldiagrams.class_sources import _split_name, find_viewcode_url

BROKEN = ".. model-graph:: missing.json\n"
NET = ".. model-graph:: net.json\n"
LINKS = """
modeldiagrams_repository_url = "https://github.com/org/project"
modeldiagrams_cache_dir = "../kept"
extensions.append("sphinx.ext.linkcode")

def linkcode_resolve(domain, info):
    return "https://x.org/{module}#{fullname}".format(**info)
"""


@pytest.mark.parametrize(
    ("conf", "message"),
    [
        ("modeldiagrams_defaults = ['depth']", "modeldiagrams_defaults: expected a map, got ['depth']"),
        ("modeldiagrams_autodoc = [1]", "modeldiagrams_autodoc: expected True, False or patterns"),
        ("modeldiagrams_autodoc = 1", "modeldiagrams_autodoc: expected True, False or patterns"),
        ('modeldiagrams_autodoc = "mypkg.*"', "modeldiagrams_autodoc: expected True, False or patterns"),
    ],
)
def test_wrong_setting_ends_the_build_at_its_start(conf, message, make_site, build, tmp_path):
    result = build(make_site(conf, page="Plain."), tmp_path / "out")
    assert result.returncode == 2
    assert message in result.stderr


def test_settings_accept_paths_and_numbers_as_text(make_site, build, tmp_path):
    conf = """
import pathlib
modeldiagrams_snapshots = pathlib.Path("kept")
modeldiagrams_cache_dir = pathlib.Path("cache")
modeldiagrams_timeout = 5
"""
    result = build(make_site(conf, page=NET), tmp_path / "out", "-W", "-D", "modeldiagrams_memory=2")
    assert result.returncode == 0, result.stderr


def test_raise_ends_a_parallel_build_and_says_where(make_site, build, tmp_path):
    pages = {f"page{number}": "Plain." for number in range(8)}
    source = make_site('modeldiagrams_on_error = "raise"', **pages, page=BROKEN)
    result = build(source, tmp_path / "out", "-j", "2")
    assert result.returncode == 2
    assert "page.rst:4: model-graph: missing.json: expected a readable graph file" in result.stderr


@pytest.fixture(scope="module")
def linked(site, build, tmp_path_factory):
    """A page with a model whose sources are known, and a graph file."""
    out = tmp_path_factory.mktemp("linked") / "out"
    (site / ".git").mkdir()
    conf, index = ((site / name).read_text() for name in ("conf.py", "index.rst"))
    (site / "conf.py").write_text(conf + LINKS)
    (site / "index.rst").write_text("Index\n=====\n\n.. model-graph:: tinymodels.Net\n   :inputs: [1, 4]\n\n" + NET)
    result = build(site, out)
    (site / "conf.py").write_text(conf)
    (site / "index.rst").write_text(index)
    assert result.returncode == 0, result.stderr
    return (out / "index.html").read_text("utf-8")


def test_source_lines_link_to_the_repository(linked, site):
    # one of the two is a graph file: nobody knows where its sources are
    links = re.findall(r' source-link="([^"]*)"', linked)
    assert links == ["https:/&#47;github.com/org/project/blob/HEAD/{path:tinymodels}#L{line}"]
    assert list((site.parent / "kept").glob("*.graph.json.gz"))


def test_linkcode_resolves_the_sites_own_classes_only(linked):
    assert 'class="mg-source" href="https:/&#47;x.org/tinymodels#Block"' in linked
    assert "x.org/torch" not in linked


def test_an_installed_package_has_source_links(make_site, build, tmp_path):
    conf = """
extensions.append("sphinx.ext.linkcode")
modeldiagrams_source_link = {"mypkg": "https://x.org/src/{path}#L{line}"}

def linkcode_resolve(domain, info):
    return "https://x.org/{module}#{fullname}".format(**info)
"""
    graph = small_graph()
    start, layer, *others = graph.nodes
    layer = msgspec.structs.replace(layer, class_="mypkg.heads.Head", source="mypkg/heads.py:3")
    source = make_site(conf, page=".. py:module:: mypkg\n\n.. model-graph:: heads.json\n")
    save(msgspec.structs.replace(graph, nodes=(start, layer, *others)), source / "heads.json")
    result = build(source, tmp_path / "out", "-W")
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "out" / "page.html").read_text("utf-8")
    assert 'class="mg-source" href="https:/&#47;x.org/mypkg.heads#Head"' in page
    assert ' source-link="https:/&#47;x.org/src/{path:mypkg mypkg.py}#L{line}"' in page


@pytest.mark.parametrize(
    ("class_name", "url"),
    [
        ("mypkg.nets.Net", "_modules/mypkg/nets#Net"),
        ("mypkg.nets.Net.Inner", "_modules/mypkg/nets#Net.Inner"),
        ("mypkg.nets.Hidden", "_modules/mypkg/nets"),
        ("mypkg.nets.Generated", None),
        ("mypkg.heads.Head", None),
    ],
)
def test_viewcode_url_leads_to_the_class_or_its_module(class_name, url):
    places = dict.fromkeys(("Net", "Net.Inner", "Hidden"), ("class", 1, 9))
    listed = {"mypkg.nets": ("source", places, {"Net": "api", "Net.Inner": "api"}, "mypkg.nets")}
    builder = SimpleNamespace(
        name="html",
        env=SimpleNamespace(_viewcode_modules=listed),
        current_docname="page",
        get_relative_uri=lambda _, page: page,
    )
    assert find_viewcode_url(builder, _split_name(class_name, None)) == url


@pytest.mark.parametrize(
    ("class_name", "source", "definition"),
    [
        ("mypkg.UNet.UNet", "mypkg/UNet.py:3", ("mypkg.UNet", "UNet")),
        ("mypkg.UNet.UNet.head", "mypkg/UNet/__init__.py:3", ("mypkg.UNet", "UNet.head")),
        # as packages do that name themselves in what they export
        ("mypkg.UNet", "mypkg/_nets/unet.py:3", ("mypkg", "UNet")),
        ("mypkg.nets.Net._Inner", None, ("mypkg.nets", "Net._Inner")),
    ],
)
def test_definition_splits_a_class_name_by_its_source_file(class_name, source, definition):
    assert _split_name(class_name, source) == definition


def test_class_without_a_target_links_to_viewcode(site, build, tmp_path):
    conf = (site / "conf.py").read_text()
    more = 'extensions += ["sphinx.ext.autodoc", "sphinx.ext.viewcode"]\nautodoc_mock_imports = ["torch"]\n'
    (site / "conf.py").write_text(f'{conf}{more}modeldiagrams_cache_dir = "../kept"\n')
    # one that references don't lead to is there all the same
    classes = ".. autoclass:: tinymodels.Net\n\n.. autoclass:: tinymodels.Block\n   :no-index:\n"
    page = f"Index\n=====\n\n{classes}\n.. model-graph:: tinymodels.Net\n   :inputs: [1, 4]\n"
    (site / "index.rst").write_text(page)
    result = build(site, tmp_path / "out")
    (site / "conf.py").write_text(conf)
    html = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert 'class="mg-source" href="_modules/tinymodels.html#Block"><code>Block</code>' in html, result.stderr
    assert 'id="Block"' in (tmp_path / "out" / "_modules" / "tinymodels.html").read_text("utf-8")


def test_index_has_the_page_url_of_each_builder(make_site, build, tmp_path):
    paper = ".. only:: latex\n\n   .. model-graph:: net.json\n      :depth: 0\n      :no-index:\n"
    other = f"{NET}   :no-index:\n\n{BROKEN}   :nowarn:\n\n{paper}"
    source = make_site("", page=f"{NET}   :name: the_net\n", other=other)
    for builder, page in (("html", "page.html"), ("dirhtml", "page/"), ("singlehtml", "index.html")):
        out = tmp_path / builder
        result = build(source, out, "-b", builder, "-W", doctrees=tmp_path / "doctrees")
        assert result.returncode == 0, result.stderr
        index = json.loads((out / "modeldiagrams" / "index.json").read_text())
        other = page.replace("page", "other")
        pages = [f"{other}#model-graph-mypkg.Net", f"{page}#the-net"]
        assert index["diagrams"] == [
            {"id": "net.json", "model": "mypkg.Net", "snapshots": [], "pages": pages, "figures": 0}
        ]
        graph = json.loads((out / "modeldiagrams" / "net.json.json").read_text())
        assert graph["model"]["class"] == "mypkg.Net"
