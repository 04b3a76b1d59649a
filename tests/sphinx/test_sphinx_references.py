"""The role, the inventory and the targets of references."""

from __future__ import annotations

import json
import re

import pytest
from sphinx.util.inventory import InventoryFile

from browser.pages import encoder
from modeldiagrams.ir.serialize import save

NET = ".. model-graph:: net.json\n"
ROLES = """
:model-graph:`mypkg.Net`, :model-graph:`that one <mypkg.Net>`, :model-graph:`~mypkg.Net`,
:model-graph:`mypkg.Net#fc`, :model-graph:`~mypkg.Net#fc`, :modeldiagrams:model-graph:`!mypkg.Net`.
"""


@pytest.fixture(scope="module")
def site_with_roles(make_site):
    return make_site("nitpicky = True", page=NET, roles=ROLES, other=f"{NET}   :no-index:\n")


@pytest.fixture(scope="module")
def html(site_with_roles, build, tmp_path_factory):
    out = tmp_path_factory.mktemp("roles") / "out"
    result = build(site_with_roles, out, "-W")
    assert result.returncode == 0, result.stderr
    return out


def links(page: str) -> list[tuple[str, str]]:
    """Address and text of every link that a role has made."""
    found = re.findall(r'<a class="reference [^"]*" href="([^"]*)"[^>]*><code[^>]*>(.*?)</code></a>', page)
    return [(address, re.sub(r"<[^>]*>", "", text)) for address, text in found]


def test_role_links_to_the_diagram_and_to_modules_in_it(html):
    found = links((html / "roles.html").read_text("utf-8"))
    assert [text for _, text in found] == ["mypkg.Net", "that one", "Net", "mypkg.Net#fc", "fc"]
    assert {address for address, _ in found[:3]} == {"page.html#model-graph-mypkg.Net"}
    ((page, _, fragment),) = {address.partition("#") for address, _ in found[3:]}
    assert (page, fragment) == ("page.html", "net.json?at=fc")
    target = (html / "page.html").read_text("utf-8")
    assert 'id="model-graph-mypkg.Net"' in target
    # for readers without script: the module's row in the outline
    assert target.count(f'<li id="{fragment}"><span data-node="fc">') == 1
    assert target.count("?at=") == 1
    assert "?at=" not in (html / "other.html").read_text("utf-8")


def test_modules_without_a_row_of_their_own_have_anchors_before_the_diagram(make_site, build, tmp_path):
    """Equal neighbours share a row."""
    source = make_site("", page=".. model-graph:: deep.json\n\n:model-graph:`pkg.Deep#layers.1.attention.key`\n")
    save(encoder("Deep", layers=2), source / "deep.json")
    result = build(source, tmp_path / "out", "-W")
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "out" / "page.html").read_text("utf-8")
    ((address, _),) = links(page)
    assert page.count(f'<span id="{address[1:]}"></span>') == 1
    anchors = re.findall(r'<(span|li) id="deep\.json\?at=([^"]*)"', page)
    without_row = {module for kind, module in anchors if kind == "span"}
    assert without_row == {
        f"layers.{n}.{part}" for n in (0, 1) for part in ("attention.key", "attention.value", "mlp.down")
    }
    assert len(anchors) == 2 * 8 + 2


def test_anchors_do_not_depend_on_other_pages(html, make_site, build, tmp_path):
    """Or else what other pages refer to would decide, and an incremental build would miss it."""
    alone = build(make_site("nitpicky = True", page=NET), tmp_path / "out", "-W")
    assert alone.returncode == 0, alone.stderr
    pages = [(out / "page.html").read_text("utf-8") for out in (html, tmp_path / "out")]
    anchors = [re.findall(r'<li id="([^"]*)\?at=([^"]*)">', page) for page in pages]
    assert anchors[0] == anchors[1]
    assert [module for _, module in anchors[0]] == ["fc"]


@pytest.mark.parametrize(("builder", "target"), [("dirhtml", "../page/"), ("singlehtml", "")])
def test_role_links_are_right_for_each_html_builder(builder, target, site_with_roles, build, tmp_path):
    result = build(site_with_roles, tmp_path / "out", "-b", builder, "-W")
    assert result.returncode == 0, result.stderr
    page = "roles/index.html" if builder == "dirhtml" else "index.html"
    found = links((tmp_path / "out" / page).read_text("utf-8"))
    assert found[0] == (f"{target}#model-graph-mypkg.Net", "mypkg.Net")
    fragment = found[-1][0].partition("#")[2]
    assert fragment == "net.json?at=fc"
    page = page if builder == "singlehtml" else "page/index.html"
    assert f'<li id="{fragment}">' in (tmp_path / "out" / page).read_text("utf-8")


def test_links_number_diagrams_of_equal_id(make_site, build, tmp_path):
    source = make_site("", page=f"{NET}   :no-index:\n\n{NET}\n:model-graph:`mypkg.Net#fc`\n")
    result = build(source, tmp_path / "out", "-W")
    assert result.returncode == 0, result.stderr
    ((address, _),) = links((tmp_path / "out" / "page.html").read_text("utf-8"))
    assert address == "#net.json~2?at=fc"


def test_singlehtml_numbers_diagrams_of_all_documents(make_site, build, tmp_path):
    role = ":model-graph:`mypkg.Net#fc`\n"
    source = make_site("", a=f"{NET}   :no-index:\n", b=f"{NET}   :static:\n   :no-index:\n", c=f"{NET}\n{role}")
    result = build(source, tmp_path / "out", "-W", "-b", "singlehtml")
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    ((address, _),) = links(page)
    assert address == "#net.json~2?at=fc"
    assert page.count(f'<li id="{address[1:]}">') == 1


def test_a_failed_diagram_is_only_a_target_if_no_other_is(make_site, build, tmp_path):
    broken = ".. model-graph:: missing.json\n   :nowarn:\n"
    nameless = ".. model-graph::\n   :nowarn:\n"
    refused = ".. model-graph:: mypkg.Net\n   :no-such-option:\n"
    roles = ":model-graph:`missing.json`, :model-graph:`missing.json#fc`, :model-graph:`mypkg.Net`\n"
    source = make_site("", a=f"{refused}\n{broken}\n{nameless}", net=NET, roles=roles)
    result = build(source, tmp_path / "out", "-n", "-D", "suppress_warnings=modeldiagrams.option", "-W")
    assert result.returncode == 0, result.stderr
    found = [address for address, _ in links((tmp_path / "out" / "roles.html").read_text("utf-8"))]
    assert found == ["a.html#model-graph-missing.json"] * 2 + ["net.html#model-graph-mypkg.Net"]
    listed = InventoryFile.loads((tmp_path / "out" / "objects.inv").read_bytes(), uri="")
    assert list(listed.data["modeldiagrams:diagram"]) == ["mypkg.Net"]
    index = (tmp_path / "out" / "searchindex.js").read_text("utf-8")
    assert '"?"' not in index
    assert "missing.json" not in json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))["objnames"]


def test_search_index_lists_diagrams(html):
    index = (html / "searchindex.js").read_text("utf-8")
    assert '"modeldiagrams:diagram"' in index
    assert '["modeldiagrams","diagram","model diagram"]' in index
    assert '"Net"' in index


def test_intersphinx_links_to_diagrams_and_modules(html, make_site, build, tmp_path):
    conf = f"""
extensions.append("sphinx.ext.intersphinx")
intersphinx_mapping = {{"nets": ("https://nets.example", {str(html / "objects.inv")!r})}}
nitpicky = True
"""
    result = build(make_site(conf, page=ROLES), tmp_path / "out", "-W")
    assert result.returncode == 0, result.stderr
    here = links((html / "roles.html").read_text("utf-8"))
    found = links((tmp_path / "out" / "page.html").read_text("utf-8"))
    assert found == [(f"https://nets.example/{address}", text) for address, text in here]


def test_any_role_finds_the_class_and_not_its_diagram(make_site, build, tmp_path):
    documented = f".. py:class:: mypkg.Net\n\n{NET}\n:any:`mypkg.Net`\n"
    assert build(make_site("", page=documented), tmp_path / "nets", "-W", "-n").returncode == 0
    conf = f"""
extensions.append("sphinx.ext.intersphinx")
intersphinx_mapping = {{"nets": ("https://nets.example", {str(tmp_path / "nets" / "objects.inv")!r})}}
"""
    result = build(make_site(conf, page=":any:`mypkg.Net`"), tmp_path / "out", "-W", "-n")
    assert result.returncode == 0, result.stderr
    found = [links((tmp_path / out / "page.html").read_text("utf-8")) for out in ("nets", "out")]
    assert [addresses[0][0] for addresses in found] == ["#mypkg.Net", "https://nets.example/page.html#mypkg.Net"]


def test_unknown_model_or_module_in_a_reference_warns(make_site, build, tmp_path):
    source = make_site("", page=NET, roles=":model-graph:`mypkg.Other` :model-graph:`mypkg.Net#no.such`\n")
    result = build(source, tmp_path / "out")
    assert "roles.rst:4: WARNING: no diagram of mypkg.Other: expected the model as" in result.stderr
    assert "roles.rst:4: WARNING: model-graph: no module 'no.such' in the diagram of mypkg.Net" in result.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_duplicate_diagram_warns_once(jobs, make_site, build, tmp_path):
    pages = {f"page{number}": "Plain." for number in range(8)}
    source = make_site("", **pages, a=NET, b=NET, c=f"{NET}   :no-index:\n")
    result = build(source, tmp_path / "out", "-j", jobs)
    (warning,) = [line for line in result.stderr.splitlines() if "WARNING" in line]
    assert "b.rst:4: WARNING: model-graph: duplicate diagram of mypkg.Net, other instance in a" in warning


def test_variants_of_a_model_are_no_duplicates_and_references_use_the_first(make_site, build, tmp_path):
    """A page may show a model with several arguments, or from several sides."""
    variants = f"{NET}   :depth: 0\n\n{NET}   :direction: LR\n\n:model-graph:`mypkg.Net`\n"
    done = build(make_site("", page=variants), tmp_path / "out", "-W")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "page.html").read_text("utf-8")
    ((address, _),) = links(page)
    assert page.index(f'id="{address[1:]}"') < page.index("<model-graph") < page.rindex("<model-graph")
