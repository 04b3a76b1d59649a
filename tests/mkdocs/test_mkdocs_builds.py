"""Second and dirty builds, blogs, and the log."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from graphs import small_graph
from hosts.builders import copy_models
from modeldiagrams.ir.serialize import save
from site_figures import read_figures

MODELS = Path(__file__).parents[1] / "tinymodels"


@pytest.fixture
def source(tmp_path) -> Path:
    """A site of two pages, each with a diagram."""
    folder = tmp_path / "source"
    (folder / "docs" / "guide").mkdir(parents=True)
    save(small_graph(), folder / "docs" / "net.json")
    (folder / "docs" / "index.md").write_text("# Index\n\n```model-graph {#net}\nnet.json\n```\n")
    (folder / "docs" / "guide" / "deep.md").write_text("# Deep\n\n```model-graph\n/net.json\n```\n")
    (folder / "mkdocs.yml").write_text("site_name: x\nplugins: [modeldiagrams]\n")
    return folder


def listed(out: Path) -> list[tuple[str, str]]:
    """Page and model of every diagram that the site's index knows; the graph of each is there, with its figures."""
    read_figures(out / "modeldiagrams")
    entries = json.loads((out / "modeldiagrams" / "index.json").read_text("utf-8"))["diagrams"]
    for entry in entries:
        assert (out / "modeldiagrams" / f"{entry['id']}.json").is_file()
        assert (out / "modeldiagrams" / f"{entry['id']}.js").is_file()
    return [(page, entry["model"]) for entry in entries for page in entry["pages"]]


def test_log_names_traced_models_and_verbose_shows_their_output(source, build, tmp_path):
    shutil.copytree(MODELS, source / "tinymodels", ignore=shutil.ignore_patterns("__pycache__"))
    (source / "docs" / "index.md").write_text("```model-graph\nmodel: tinymodels.Chatty\ninputs: [1, 4]\n```\n")
    told = build(source, tmp_path / "out", "--verbose").stderr
    assert re.search(r"^INFO .*modeldiagrams: tracing tinymodels.Chatty$", told, re.MULTILINE)
    assert re.search(r"^DEBUG .*tinymodels.Chatty printed:\nhello from the model", told, re.MULTILINE)
    assert "tracing" not in build(source, tmp_path / "out").stderr, "it came from the cache"


def test_dirty_build_keeps_diagrams_of_unconverted_pages_in_the_index(source, build, tmp_path):
    out = tmp_path / "out"
    assert build(source, out).returncode == 0
    assert listed(out) == [("#net", "net.json"), ("guide/deep/", "net.json")]
    page = out / "guide" / "deep" / "index.html"
    untouched = page.read_bytes()
    os.utime(page, (0, 4e9))  # newer than its source
    index = source / "docs" / "index.md"
    index.write_text(index.read_text().replace("#net", "#other"))
    os.utime(index, (5e9, 5e9))
    assert build(source, out, "--dirty").returncode == 0
    assert listed(out) == [("#other", "net.json"), ("guide/deep/", "net.json")]
    assert page.read_bytes() == untouched
    (source / "docs" / "guide" / "deep.md").unlink()
    assert build(source, out, "--dirty").returncode == 0
    assert listed(out) == [("#other", "net.json")]


# as mkdocs-static-i18n does
AGAIN = """
from mkdocs import utils
from mkdocs.commands.build import build
from mkdocs.plugins import event_priority


def on_files(files, config):
    if config.extra:
        files.remove(files.get_file_from_path("guide/deep.md"))


@event_priority(-100)
def on_post_build(config):
    if not config.extra:
        config.extra["again"] = True
        utils.clean_directory = lambda folder: None
        build(config)
"""


def test_index_covers_all_languages_of_a_site(source, build, tmp_path):
    (source / "again.py").write_text(AGAIN)
    with (source / "mkdocs.yml").open("a") as config:
        config.write("hooks: [again.py]\n")
    result = build(source, tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert listed(tmp_path / "out") == [("#net", "net.json"), ("guide/deep/", "net.json")]


def test_files_that_zensical_left_among_the_pages_are_replaced(source, build, tmp_path):
    kept = source / "docs" / "modeldiagrams"
    kept.mkdir()
    (kept / "model-graph.js").write_text("old")
    assert (
        build(
            source, tmp_path / "out", "--strict", fresh=True, PYTHONWARNINGS="error::DeprecationWarning:mkdocs"
        ).returncode
        == 0
    )
    assert (tmp_path / "out" / "modeldiagrams" / "model-graph.js").read_text("utf-8") != "old"


def test_caption_is_converted_like_the_page(source, build, tmp_path):
    (source / "mkdocs.yml").write_text(
        "site_name: x\nplugins: [modeldiagrams]\nmarkdown_extensions: [attr_list, pymdownx.caret]\n"
    )
    fence = "```model-graph\nmodel: /net.json\ncaption: |\n  As in the [index](../index.md#net){ .there },\n  ^^so^^."
    (source / "docs" / "guide" / "deep.md").write_text(
        f"# Deep\n\n{fence}\n\n  ![A](../a.svg) and `<b>` & *all*.\n```\n"
    )
    (source / "docs" / "a.svg").write_text("<svg/>")
    out = tmp_path / "out"
    result = build(source, out, "--strict")
    assert result.returncode == 0, result.stderr
    caption = re.search(
        r"<figcaption>(.*?)</figcaption>", (out / "guide" / "deep" / "index.html").read_text(), re.DOTALL
    )
    assert caption
    assert re.split(r"\n|(?<=</p>)(?=<p>)", caption[1]) == [
        '<p>As in the <a class="there" href="../../#net">index</a>,',
        "<ins>so</ins>.</p>",
        '<p><img alt="A" src="../../a.svg" /> and <code>&lt;b&gt;</code> &amp; <em>all</em>.</p>',
    ]


def test_broken_link_in_a_caption_warns(source, build, tmp_path):
    (source / "docs" / "index.md").write_text('```model-graph {caption="See [it](nowhere.md)."}\nnet.json\n```\n')
    result = build(source, tmp_path / "out", "--strict")
    assert result.returncode == 1
    assert "'index.md' contains a link 'nowhere.md'" in result.stderr


def test_excerpts_of_blog_posts_find_their_files(source, build, tmp_path):
    posts = source / "docs" / "blog" / "posts"
    posts.mkdir(parents=True)
    (source / "docs" / "blog" / "index.md").write_text("# Blog\n")
    text = "```model-graph\n/net.json\n```\n\n```model-graph\nno.json\n```\n\n<!-- more -->\n\nThe rest.\n"
    (posts / "first.md").write_text(f"---\ndate: 2024-01-31\n---\n\n# First\n\n{text}")
    (source / "mkdocs.yml").write_text(
        "site_name: x\ntheme: {name: material, font: false}\nplugins: [blog, autorefs, modeldiagrams]\n"
    )
    out = tmp_path / "out"
    result = build(source, out)
    assert result.returncode == 0, result.stderr
    (warning,) = [line for line in result.stderr.splitlines() if "no.json" in line]
    assert "blog/posts/first.md:11: model-graph: " in warning
    post = out / "blog" / "2024" / "01" / "31" / "first"
    for folder in (out / "blog", post):
        page = (folder / "index.html").read_text("utf-8")
        assert "<autoref" not in page
        (data,) = re.findall(r'<model-graph [^>]* src="([^"]+)"', page)
        assert (folder / data).is_file()
    assert [page for page, _ in listed(out)] == ["#net", "blog/2024/01/31/first/", "guide/deep/"]


def test_models_are_found_in_search_paths(build, tmp_path):
    site = tmp_path / "website"
    (site / "docs").mkdir(parents=True)
    (tmp_path / "code").mkdir()
    copy_models(tmp_path / "code")
    (site / "docs" / "index.md").write_text("```model-graph\nmodel: tinymodels.Net\ninputs: [1, 4]\n```\n", "utf-8")
    config = "site_name: x\nplugins: [{modeldiagrams: {search_paths: [../%s]}}]\n"
    (site / "mkdocs.yml").write_text(config % "code", "utf-8")
    built = build(site, tmp_path / "out", "--strict")
    assert built.returncode == 0, built.stderr
    assert "<svg" in (tmp_path / "out" / "index.html").read_text("utf-8")
    (site / "mkdocs.yml").write_text(config % "cod", "utf-8")
    assert "isn't an existing directory" in build(site, tmp_path / "out").stderr
