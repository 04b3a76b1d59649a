"""The fence where nothing but Python-Markdown runs, and inside Zensical as far as it shows itself to extensions."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from types import SimpleNamespace

import markdown
import pytest
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from graphs import small_graph
from modeldiagrams.errors import SettingError
from modeldiagrams.serialize import load, save

FENCE = "```model-graph {#net}\nnet.json\n```\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs" / "guide").mkdir(parents=True)
    save(small_graph(), tmp_path / "net.json")
    save(small_graph(), tmp_path / "docs" / "guide" / "net.json")
    return tmp_path


class _Context(Extension):
    """What Zensical registers before it converts a page."""

    def __init__(self, root: Path, url: str, path: str) -> None:
        super().__init__()
        self.page = SimpleNamespace(url=url, path=path)
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


def test_index_keeps_what_other_pages_have_shown(folder):
    for url, path in (("guide/deep/", "guide/deep.md"), ("guide/other/", "guide/other.md"), ("", "index.md")):
        convert(
            FENCE if path != "index.md" else FENCE.replace("net.json", "guide/net.json"), _Context(folder, url, path)
        )
    convert(FENCE, _Context(folder, "guide/deep/", "guide/deep.md"))
    listed = json.loads((folder / "site" / "modeldiagrams" / "index.json").read_text("utf-8"))["diagrams"]
    assert [entry["page"] for entry in listed] == ["#net", "guide/deep/#net", "guide/other/#net"]


def test_warning_names_page_and_line(folder, caplog):
    with caplog.at_level(logging.WARNING):
        convert("# T\n\n```model-graph\nno.json\n```", _Context(folder, "a/", "a.md"))
    (record,) = caplog.records
    assert record.getMessage().startswith("a.md:3: model-graph: no.json:")


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
        ({"on_error": "cry"}, "on_error: .*got 'cry'"),
        ({"defaults": {"depht": 1}}, "defaults: .*depht"),
        ({"colour": "red"}, "colour: no such setting; expected one of .*cache_dir"),
    ],
)
def test_wrong_setting_is_told_at_once(configs, message):
    with pytest.raises(SettingError, match=message):
        convert("", **configs)
