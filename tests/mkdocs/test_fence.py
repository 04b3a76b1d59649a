"""The fence in plain Python-Markdown, without MkDocs."""

from __future__ import annotations

import logging

import markdown
import pytest

from graphs import small_graph
from modeldiagrams.diagrams import Maker
from modeldiagrams.fence import FenceHost, ModelDiagramsExtension
from modeldiagrams.host import data_files
from modeldiagrams.serialize import save
from modeldiagrams.settings import Settings


@pytest.fixture
def folder(tmp_path):
    save(small_graph(), tmp_path / "net.json")
    return tmp_path


@pytest.fixture
def host(folder):
    with Maker(None, folder=folder) as maker:
        yield FenceHost(maker, Settings(defaults={"direction": "LR"}))


def test_defaults_hold_where_the_fence_says_nothing(host):
    text = "```model-graph\nnet.json\n```\n\n```model-graph\n{model: net.json, direction: TB}\n```"
    markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    assert [diagram.options.direction for diagram in host.diagrams.values()] == ["LR", "TB"]


def test_one_extension_serves_many_conversions(host):
    extension = ModelDiagramsExtension(host=host)
    converter = markdown.Markdown(extensions=[extension])
    pages = [converter.reset().convert("```model-graph\nnet.json\n```") for _ in range(2)]
    pages.append(markdown.markdown("```model-graph\nnet.json\n```", extensions=[extension]))
    assert len(set(pages)) == 1
    assert pages[0].count("<figure") == 1


def test_superfences_may_be_listed_after_us(host):
    extensions = [ModelDiagramsExtension(host=host), "pymdownx.superfences"]
    assert "<figure" in markdown.markdown("```model-graph\nnet.json\n```", extensions=extensions)


def test_warnings_name_the_line_of_each_of_equal_fences(host, caplog):
    text = (
        "# T\n\n```model-graph\nno.json\n```\n\n> ~~~model-graph\n> no.json\n> ~~~\n\n"
        "- item\n\n    ```model-graph\n    no.json\n    ```\n"
    )
    with caplog.at_level(logging.WARNING):
        markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["line 3", "line 7", "line 13"]


@pytest.mark.parametrize("body", ["- a\n- b", "two words", "7"])
def test_body_that_is_no_model_and_no_options_is_explained(body, host, caplog):
    html = markdown.markdown(f"```model-graph\n{body}\n```", extensions=[ModelDiagramsExtension(host=host)])
    assert "mg-problem" in html
    (record,) = caplog.records
    assert "expected to be one line that names the model, or options as YAML" in record.getMessage()


def test_caption_is_markdown_and_text_is_escaped(host):
    text = '```model-graph\nmodel: net.json\ncaption: The `<b>` of *x*\nclass: a"b\n```'
    html = markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    assert "<figcaption>The <code>&lt;b&gt;</code> of <em>x</em></figcaption>" in html
    assert 'class="mg-figure a&#34;b"' in html


def test_fence_needs_no_mkdocs():
    import subprocess  # noqa: PLC0415
    import sys  # noqa: PLC0415

    code = "import sys, modeldiagrams.fence; print({'mkdocs', 'sphinx', 'torch', 'py_mini_racer'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"


def test_a_still_picture_of_the_same_model_takes_no_files_from_the_other(host):
    text = "```model-graph\nnet.json\n```\n\n```model-graph\n{model: net.json, static: true}\n```"
    markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    assert [name.rpartition(".")[2] for name in data_files(host.diagrams.values())] == ["js"]
