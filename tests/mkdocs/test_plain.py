"""The fence where nothing but Python-Markdown runs, and inside Zensical as far as it shows itself to extensions."""

from __future__ import annotations

import json
import logging
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import markdown
import pytest
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

from graphs import small_graph
from modeldiagrams import plain
from modeldiagrams.errors import SettingError
from modeldiagrams.pages import beside
from modeldiagrams.serialize import load, save
from modeldiagrams.worker import Problem, Refused, Worker

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
    monkeypatch.setattr(plain, "_ZENSICAL_CACHE", str(cache))


class _Context(Extension):
    """What Zensical registers before it converts a page."""

    def __init__(self, root: Path, url: str, path: str, *, autorefs: bool = False) -> None:
        super().__init__()
        self.page = SimpleNamespace(url=url, path=path)
        self.autorefs = autorefs
        self.settings = {
            "root_dir": str(root),
            "docs_dir": "docs",
            "site_dir": "site",
            "repo_url": "https://github.com/org/project",
        }

    def extendMarkdown(self, md):  # noqa: N802
        context = Preprocessor(md)
        context.run = lambda lines: lines
        context.page, context.config = self.page, self.settings
        md.preprocessors.register(context, "rendering_context", 0)
        if self.autorefs:
            md.inlinePatterns.register(InlineProcessor("$^"), "mkdocs-autorefs", 168)


def convert(text: str, *extensions, **configs) -> str:
    return markdown.markdown(
        text, extensions=[*extensions, "modeldiagrams"], extension_configs={"modeldiagrams": configs}
    )


def test_extension_has_a_name_and_writes_nothing_unasked(folder, monkeypatch):
    monkeypatch.chdir(folder)
    html = convert(FENCE)
    assert html.startswith('<figure class="mg-figure" id="net">')
    assert '<model-graph graph="net' in html
    assert sorted(path.name for path in folder.iterdir()) == ["docs", "net.json"]


def test_files_beside_the_page_are_written_where_told(folder):
    html = convert(FENCE, folder=str(folder), site_dir=str(folder / "site"))
    files = folder / "site" / "modeldiagrams"
    (entry,) = json.loads((files / "index.json").read_text("utf-8"))["diagrams"]
    assert f'src="modeldiagrams/{entry["id"]}.js"' in html
    assert (files / f"{entry['id']}.js").is_file()
    assert load(files / f"{entry['id']}.json") == small_graph()
    assert (files / "model-graph.js").is_file()


def test_zensical_page_finds_graph_file_assets_and_repository(folder):
    html = convert(FENCE, _Context(folder, "guide/deep/", "guide/deep.md"))
    assert 'src="../modeldiagrams/guide' in html  # from the file: Zensical itself makes URLs fit the page
    assert 'class="mg-problem"' not in html
    assert (folder / "site" / "modeldiagrams" / "viz.js").is_file()


def listed(folder: Path) -> list[str]:
    entries = json.loads((folder / "site" / "modeldiagrams" / "index.json").read_text("utf-8"))["diagrams"]
    return [entry["page"] for entry in entries]


def test_index_keeps_what_other_pages_have_shown(folder):
    for url, path in (("guide/deep/", "guide/deep.md"), ("guide/other/", "guide/other.md"), ("", "index.md")):
        convert(
            FENCE if path != "index.md" else FENCE.replace("net.json", "guide/net.json"), _Context(folder, url, path)
        )
    convert(FENCE, _Context(folder, "guide/deep/", "guide/deep.md"))
    assert listed(folder) == ["#net", "guide/deep/#net", "guide/other/#net"]


def test_diagram_that_is_gone_from_a_page_leaves_the_index(folder):
    convert(FENCE, _Context(folder, "guide/deep/", "guide/deep.md"))
    convert(FENCE, _Context(folder, "guide/other/", "guide/other.md"))
    convert("# None\n", _Context(folder, "guide/deep/", "guide/deep.md"))
    assert listed(folder) == ["guide/other/#net"]


def test_pages_of_an_earlier_build_count_as_long_as_they_are_there(folder):
    for page in ("there", "gone"):
        save(small_graph(), folder / "docs" / f"{page}.json")
        (folder / "docs" / f"{page}.md").write_text("# Any\n")
        convert(FENCE.replace("net.json", f"{page}.json"), _Context(folder, f"{page}/", f"{page}.md"))
    (folder / "docs" / "gone.md").unlink()
    shutil.rmtree(folder / "site")  # as Zensical does before each build
    beside.cache_clear()  # as in another process
    convert(FENCE.replace("net.json", "guide/net.json"), _Context(folder, "new/", "new.md"))
    assert listed(folder) == ["new/#net", "there/#net"]
    # Zensical brings these into the site again, also for pages that it keeps
    kept = {path.name for path in (folder / "docs" / "modeldiagrams").iterdir()}
    assert {"there.json.js", "there.json.json", "index.json", "viz.js", ".gitignore"} < kept
    assert not any(name.startswith("gone") for name in kept)


def test_files_of_the_author_s_own_are_never_removed(folder):
    own = folder / "docs" / "modeldiagrams" / "own.json"
    own.parent.mkdir()
    save(small_graph(), own)
    for name in ("a", "b"):
        (folder / "docs" / f"{name}.md").write_text("# Any\n")
        convert(FENCE.replace("net.json", "modeldiagrams/own.json"), _Context(folder, f"{name}/", f"{name}.md"))
    assert listed(folder) == ["a/#net", "b/#net"]
    assert own.is_file()


def test_page_that_got_another_address_leaves_the_former_one(folder):
    (folder / "docs" / "guide" / "deep.md").write_text(FENCE)
    for url in ("guide/deep/", "guide/deep.html"):
        beside.cache_clear()
        convert(FENCE, _Context(folder, url, "guide/deep.md"))
    assert listed(folder) == ["guide/deep.html#net"]


def test_pieces_of_a_page_that_are_converted_by_themselves_forget_nothing(folder):
    context = _Context(folder, "guide/deep/", "guide/deep.md")
    convert(FENCE, context)
    convert(FENCE.replace("#net", "#inner"), context)
    assert listed(folder) == ["guide/deep/#inner", "guide/deep/#net"]


def test_pages_in_several_threads_lose_nothing(folder):
    def page(number: int) -> str:
        return convert(FENCE, _Context(folder, f"guide/{number}/", f"guide/{number}.md"))

    with ThreadPoolExecutor(8) as pool:
        assert all("<model-graph" in html for html in pool.map(page, range(24)))
    assert listed(folder) == sorted(f"guide/{number}/#net" for number in range(24))


@pytest.mark.parametrize("reused", [True, False])
def test_documents_of_one_site_are_listed_together(reused, folder):
    configs = {"modeldiagrams": {"folder": str(folder), "site_dir": str(folder / "site")}}
    new = lambda: markdown.Markdown(extensions=["modeldiagrams"], extension_configs=configs)  # noqa: E731
    converter = new()
    for name in ("one", "two", "none"):
        converter = converter.reset() if reused else new()
        converter.convert(FENCE.replace("net}", f"{name}}}") if name != "none" else "# None\n")
    assert listed(folder) == ["#one", "#two"]


def test_author_may_say_which_page_a_document_is(folder):
    configs = {"folder": str(folder), "site_dir": str(folder / "site")}
    html = convert(FENCE, page="guide/deep/", **configs)
    assert 'src="../../modeldiagrams/' in html
    convert(FENCE, page="guide/other.html", **configs)
    convert(FENCE.replace("#net", "#new"), page="guide/deep/", **configs)
    assert listed(folder) == ["guide/deep/#new", "guide/other.html#net"]


def test_viewer_is_written_once(folder):
    convert(FENCE, _Context(folder, "a/", "guide/a.md"))
    viewer = folder / "site" / "modeldiagrams" / "viz.js"
    before = viewer.stat()
    convert(FENCE, _Context(folder, "b/", "guide/b.md"))
    assert viewer.stat() == before


def test_zensical_s_autorefs_resolve_classes(folder):
    html = convert(FENCE, _Context(folder, "a/", "guide/a.md", autorefs=True))
    assert '<autoref identifier="torch.nn.Linear" optional><code>Linear</code></autoref>' in html
    assert "<autoref" not in convert(FENCE, _Context(folder, "a/", "guide/a.md"))


def test_model_that_is_run_is_named(folder, monkeypatch, capsys):
    monkeypatch.setattr(Worker, "trace", lambda *_: Refused(problem=Problem(kind="model", message="no")))
    convert("```model-graph\nmypkg.Net\n```", _Context(folder, "a/", "a.md"), on_error="placeholder")
    assert capsys.readouterr().err == "modeldiagrams: tracing mypkg.Net\n"


def test_warning_names_page_and_line(folder, caplog):
    with caplog.at_level(logging.WARNING):
        convert("# T\n\n```model-graph\nno.json\n```", _Context(folder, "a/", "a.md"))
    (record,) = caplog.records
    assert record.getMessage().startswith("a.md:3: model-graph: no.json:")


def test_line_is_that_of_the_file_front_matter_included(folder, caplog):
    fence = "# T\n\n```model-graph\nno.json\n```"
    (folder / "docs" / "a.md").write_text(f"---\ntitle: T\n---\n\n{fence}")
    with caplog.at_level(logging.WARNING):
        convert(fence, _Context(folder, "a/", "a.md"))
    assert caplog.messages[0].startswith("a.md:7: model-graph: no.json:")


def test_problem_can_end_the_build_or_pass_in_silence(folder, caplog):
    bad = "```model-graph\nno.json\n```"
    with pytest.raises(Exception, match=r"a\.md:1: model-graph: no\.json: expected a readable graph file"):
        convert(bad, _Context(folder, "a/", "a.md"), on_error="raise")
    with caplog.at_level(logging.WARNING):
        assert "mg-problem" in convert(bad, _Context(folder, "a/", "a.md"), on_error="placeholder")
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
def test_wrong_setting_is_told_at_once(configs, message):
    with pytest.raises(SettingError, match=message):
        convert("", **configs)
