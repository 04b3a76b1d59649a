"""The fence where nothing but Python-Markdown runs, and inside Zensical as far as it shows itself to extensions."""

from __future__ import annotations

import json
import logging
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import markdown
import pytest

from graphs import small_graph
from modeldiagrams.errors import SettingError
from modeldiagrams.ir.serialize import load, save
from modeldiagrams.markdown import extension
from modeldiagrams.worker import Problem, Refused, Worker
from site_figures import read_figures
from zensical_page import Context, convert

FENCE = "```model-graph {#net}\nnet.json\n```\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs" / "guide").mkdir(parents=True)
    save(small_graph(), tmp_path / "net.json")
    save(small_graph(), tmp_path / "docs" / "guide" / "net.json")
    return tmp_path


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """What was drawn once is not drawn again."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _shared_cache(cache, monkeypatch):
    monkeypatch.setattr(extension, "CACHE", str(cache))


def test_extension_is_found_by_name_and_writes_no_files_by_default(folder, monkeypatch):
    monkeypatch.chdir(folder)
    html = convert(FENCE)
    assert html.startswith('<figure class="mg-figure" id="net">')
    assert '<model-graph graph="net' in html
    assert sorted(path.name for path in folder.iterdir()) == ["docs", "net.json"]


def test_site_dir_gets_index_graphs_data_and_viewer(folder):
    html = convert(FENCE, folder=str(folder), site_dir=str(folder / "site"))
    files = folder / "site" / "modeldiagrams"
    (entry,) = json.loads((files / "index.json").read_text("utf-8"))["diagrams"]
    assert f'src="modeldiagrams/{entry["id"]}.js"' in html
    assert (files / f"{entry['id']}.js").is_file()
    assert load(files / f"{entry['id']}.json") == small_graph()
    assert (files / "model-graph.js").is_file()


def test_zensical_page_finds_graph_file_and_assets(folder):
    html = convert(FENCE, Context(folder, "guide/deep/", "guide/deep.md"))
    assert 'src="../modeldiagrams/guide' in html  # from the file: Zensical itself makes URLs fit the page
    assert 'class="mg-problem"' not in html
    assert (folder / "site" / "modeldiagrams" / "viz.js").is_file()


def listed(folder: Path) -> list[str]:
    entries = json.loads((folder / "site" / "modeldiagrams" / "index.json").read_text("utf-8"))["diagrams"]
    return [page for entry in entries for page in entry["pages"]]


def test_index_keeps_diagrams_of_other_pages(folder):
    for url, path in (("guide/deep/", "guide/deep.md"), ("guide/other/", "guide/other.md"), ("", "index.md")):
        convert(
            FENCE if path != "index.md" else FENCE.replace("net.json", "guide/net.json"), Context(folder, url, path)
        )
    convert(FENCE, Context(folder, "guide/deep/", "guide/deep.md"))
    assert listed(folder) == ["#net", "guide/deep/#net", "guide/other/#net"]


def test_index_drops_diagrams_that_a_page_no_longer_shows(folder):
    convert(FENCE, Context(folder, "guide/deep/", "guide/deep.md"))
    convert(FENCE, Context(folder, "guide/other/", "guide/other.md"))
    convert("# None\n", Context(folder, "guide/deep/", "guide/deep.md"))
    assert listed(folder) == ["guide/other/#net"]


def test_index_and_files_cover_earlier_pages_that_still_exist(folder, monkeypatch):
    for page in ("there", "gone"):
        save(small_graph(), folder / "docs" / f"{page}.json")
        (folder / "docs" / f"{page}.md").write_text("# Any\n")
        convert(FENCE.replace("net.json", f"{page}.json"), Context(folder, f"{page}/", f"{page}.md"))
    (folder / "docs" / "gone.md").unlink()
    shutil.rmtree(folder / "site")  # as Zensical does before each build
    monkeypatch.setattr(extension, "_services", extension.Services())  # as in another process
    convert(FENCE.replace("net.json", "guide/net.json"), Context(folder, "new/", "new.md"))
    assert listed(folder) == ["new/#net", "there/#net"]
    # Zensical brings these into the site again, also for pages that it keeps
    kept = {path.name for path in (folder / "docs" / "modeldiagrams").iterdir()}
    assert {"there.json.js", "there.json.json", "index.json", "viz.js", ".gitignore"} < kept
    assert not any(name.startswith("gone") for name in kept)
    assert len(read_figures(folder / "docs" / "modeldiagrams")) == 2


def test_the_authors_files_are_never_removed(folder):
    own = folder / "docs" / "modeldiagrams" / "own.json"
    own.parent.mkdir()
    save(small_graph(), own)
    for name in ("a", "b"):
        (folder / "docs" / f"{name}.md").write_text("# Any\n")
        convert(FENCE.replace("net.json", "modeldiagrams/own.json"), Context(folder, f"{name}/", f"{name}.md"))
    assert listed(folder) == ["a/#net", "b/#net"]
    assert own.is_file()


def test_index_drops_the_former_url_of_a_page(folder, monkeypatch):
    (folder / "docs" / "guide" / "deep.md").write_text(FENCE)
    for url in ("guide/deep/", "guide/deep.html"):
        monkeypatch.setattr(extension, "_services", extension.Services())
        convert(FENCE, Context(folder, url, "guide/deep.md"))
    assert listed(folder) == ["guide/deep.html#net"]


def test_index_collects_separately_converted_pieces_of_a_page(folder):
    context = Context(folder, "guide/deep/", "guide/deep.md")
    convert(FENCE, context)
    convert(FENCE.replace("#net", "#inner"), context)
    assert listed(folder) == ["guide/deep/#inner", "guide/deep/#net"]


def test_index_is_complete_after_conversions_in_threads(folder):
    def page(number: int) -> str:
        return convert(FENCE, Context(folder, f"guide/{number}/", f"guide/{number}.md"))

    with ThreadPoolExecutor(8) as pool:
        assert all("<model-graph" in html for html in pool.map(page, range(24)))
    assert listed(folder) == sorted(f"guide/{number}/#net" for number in range(24))


@pytest.mark.parametrize("reused", [True, False])
def test_index_collects_documents_of_one_site(reused, folder):
    configs = {"modeldiagrams": {"folder": str(folder), "site_dir": str(folder / "site")}}
    new = lambda: markdown.Markdown(extensions=["modeldiagrams"], extension_configs=configs)  # noqa: E731
    converter = new()
    for name in ("one", "two", "none"):
        converter = converter.reset() if reused else new()
        converter.convert(FENCE.replace("net}", f"{name}}}") if name != "none" else "# None\n")
    assert listed(folder) == ["#one", "#two"]


def test_page_setting_decides_urls_and_index(folder):
    configs = {"folder": str(folder), "site_dir": str(folder / "site")}
    html = convert(FENCE, page="guide/deep/", **configs)
    assert 'src="../../modeldiagrams/' in html
    convert(FENCE, page="guide/other.html", **configs)
    convert(FENCE.replace("#net", "#new"), page="guide/deep/", **configs)
    assert listed(folder) == ["guide/deep/#new", "guide/other.html#net"]


def test_unchanged_viewer_is_not_written_again(folder):
    convert(FENCE, Context(folder, "a/", "guide/a.md"))
    viewer = folder / "site" / "modeldiagrams" / "viz.js"
    before = viewer.stat().st_mtime_ns
    convert(FENCE, Context(folder, "b/", "guide/b.md"))
    # reading it may change the time of access
    assert viewer.stat().st_mtime_ns == before


def test_classes_are_autorefs_if_zensical_has_them(folder):
    html = convert(FENCE, Context(folder, "a/", "guide/a.md", autorefs=True))
    assert '<autoref identifier="torch.nn.Linear" optional><code>Linear</code></autoref>' in html
    assert "<autoref" not in convert(FENCE, Context(folder, "a/", "guide/a.md"))


def test_zensical_shows_the_model_being_traced(folder, monkeypatch, capsys):
    monkeypatch.setattr(Worker, "trace", lambda *_: Refused(problem=Problem(kind="model", message="no")))
    convert("```model-graph\nmypkg.Net\n```", Context(folder, "a/", "a.md"), on_error="placeholder")
    assert capsys.readouterr().err == "modeldiagrams: tracing mypkg.Net\n"


def test_warning_names_page_and_line(folder, caplog):
    with caplog.at_level(logging.WARNING):
        convert("# T\n\n```model-graph\nno.json\n```", Context(folder, "a/", "a.md"))
    (record,) = caplog.records
    assert record.getMessage().startswith("a.md:3: model-graph: no.json:")


def test_warnings_count_lines_of_the_front_matter(folder, caplog):
    fence = "# T\n\n```model-graph\nno.json\n```"
    (folder / "docs" / "a.md").write_text(f"---\ntitle: T\n---\n\n{fence}")
    with caplog.at_level(logging.WARNING):
        convert(fence, Context(folder, "a/", "a.md"))
    assert caplog.messages[0].startswith("a.md:7: model-graph: no.json:")


def test_on_error_raises_or_stays_silent(folder, caplog):
    bad = "```model-graph\nno.json\n```"
    with pytest.raises(Exception, match=r"a\.md:1: model-graph: no\.json: expected a readable graph file"):
        convert(bad, Context(folder, "a/", "a.md"), on_error="raise")
    with caplog.at_level(logging.WARNING):
        assert "mg-problem" in convert(bad, Context(folder, "a/", "a.md"), on_error="placeholder")
        assert "mg-problem" in convert("```model-graph\nmodel: no.json\nnowarn: true\n```", folder=str(folder))
    assert not caplog.records


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ({"folder": 3}, "folder: expected the path of a folder, got 3"),
        ({"page": 3}, "page: expected a URL, got 3"),
        ({"on_error": "cry"}, "on_error: .*got 'cry'"),
        ({"defaults": {"depht": 1}}, "defaults: .*depht"),
        ({"colour": "red"}, "colour: no such setting; expected one of .*cache_dir"),
    ],
)
def test_wrong_setting_raises(configs, message):
    with pytest.raises(SettingError, match=message):
        convert("", **configs)
