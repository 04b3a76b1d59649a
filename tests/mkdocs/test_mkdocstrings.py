"""A package documented by mkdocstrings, on a site below the root of its host, with settings of its own."""

from __future__ import annotations

import json
import re
import shutil
import zlib
from pathlib import Path

import pytest

from graphs import small_graph
from modeldiagrams.ir.serialize import save
from modeldiagrams.options.settings import SNAPSHOTS

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("documented") / "source"
    shutil.copytree(HERE / "documented", folder, ignore=shutil.ignore_patterns("__pycache__"))
    inventory = folder / "objects.inv"
    inventory.write_bytes(
        b"# Sphinx inventory version 2\n# Project: PyTorch\n# Version: 1\n# The remainder is compressed using zlib.\n"
        + zlib.compress(b"torch.nn.Linear py:class 1 nn.html#Linear -\n")
    )
    config = folder / "mkdocs.yml"
    config.write_text(config.read_text().replace("INVENTORY", inventory.as_uri()))
    return folder


@pytest.fixture(scope="module")
def html(source, build, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site")
    result = build(source, out, "--strict")
    assert result.returncode == 0, result.stderr
    return out


@pytest.fixture(scope="module")
def sections(html) -> dict[str, str]:
    """Class → its part of the API page."""
    page = (html / "api" / "index.html").read_text("utf-8")
    _, *parts = re.split(r'<h2 id="zoopkg\.(\w+)"', page)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_modules_have_diagrams_and_other_classes_have_none(sections):
    drawn = {name for name, section in sections.items() if "<model-graph" in section}
    assert set(sections) == {"Block", "Classifier", "Interface", "Meter", "Opaque", "Plain", "Quiet", "Wide", "small"}
    assert drawn == {"Block", "Classifier", "Wide", "small"}


@pytest.mark.parametrize("page", ["api", "again"])
def test_ids_are_unique(html, page):
    ids = re.findall(r'<[a-z][^>]* id="([^"]*)"', (html / page / "index.html").read_text("utf-8"))
    assert "zoopkg.Block" in ids or page == "again"
    assert sorted(ids) == sorted({*ids})


def test_a_class_without_a_docstring_has_a_diagram(sections, html):
    assert "Bare" not in sections
    _, part = (html / "again" / "index.html").read_text("utf-8").split('id="zoopkg.Bare"', 1)
    assert "<model-graph" in part


def test_field_sets_options_and_is_removed_from_the_text(sections):
    assert "<figcaption>Twice as wide.</figcaption>" in sections["Wide"]
    assert "<figcaption>Small.</figcaption>" in sections["small"]
    assert "Linear 16" in re.sub(r"<[^>]+>", "", sections["Wide"])
    assert ":model-graph:" not in "".join(sections.values())


def test_classes_link_to_their_documentation(sections, html):
    assert re.search(r'<a class="autorefs autorefs-internal"[^>]*href="#zoopkg.Block"', sections["Classifier"])
    front = (html / "index.html").read_text("utf-8")
    assert re.search(r'<a class="autorefs autorefs-internal"[^>]*href="(api|again)/#zoopkg.Block"', front)
    # PyTorch's inventory has it under a shorter name than its own
    linear = r'<a class="autorefs autorefs-external"[^>]*href="https://example.org/torch/nn.html#Linear"'
    assert re.search(linear, front)


def test_setting_selects_classes_by_pattern_or_none(source, build, tmp_path):
    config = source / "mkdocs.yml"
    before = config.read_text()
    try:
        for chosen, expected in (("['*.blocks.*']", {"zoopkg.Block"}), ("false", set())):
            config.write_text(before.replace("mkdocstrings: true", f"mkdocstrings: {chosen}"))
            assert build(source, tmp_path, "--strict").returncode == 0
            listed = json.loads((tmp_path / "modeldiagrams" / "index.json").read_text("utf-8"))["diagrams"]
            on_page = {entry["model"] for entry in listed if any(page.startswith("api/") for page in entry["pages"])}
            assert on_page == {"zoopkg.Wide", "zoopkg.small", *expected}
    finally:
        config.write_text(before)


def test_index_lists_diagrams_of_documented_classes(html):
    folder = html / "modeldiagrams"
    listed = json.loads((folder / "index.json").read_text("utf-8"))["diagrams"]
    assert [(entry["model"], entry["pages"]) for entry in listed] == [
        ("zoopkg.Bare", ["again/"]),
        # as its package exports it, and as mkdocstrings calls it
        ("zoopkg.Block", ["#block", "again/", "api/"]),
        ("zoopkg.Classifier", ["#again", "api/"]),
        ("zoopkg.Wide", ["api/"]),
        ("zoopkg.small", ["api/"]),
    ]
    for entry in listed:
        assert json.loads((folder / f"{entry['id']}.json").read_text("utf-8"))["format"] == "modeldiagrams"


def test_site_settings_reach_page_and_style(html):
    assert "model-graph{--mg-hue-linear:hotpink;}" in (html / "modeldiagrams" / "model-graph.css").read_text("utf-8")
    # the repository is the site's `repo_url`
    page = (html / "index.html").read_text("utf-8")
    assert "github.com/org/project/blob/HEAD/{path:zoopkg}#L{line}" in page


def test_wrong_mkdocstrings_setting_ends_the_build(source, build, tmp_path):
    config = tmp_path / "mkdocs.yml"
    config.write_text(f"site_name: x\ndocs_dir: {source / 'docs'}\nplugins: [{{modeldiagrams: {{mkdocstrings: 3}}}}]\n")
    result = build(tmp_path, tmp_path / "out")
    assert result.returncode == 1
    assert re.search("'mkdocstrings'.*Expected type", result.stderr)
    assert "Traceback" not in result.stderr


def test_class_under_two_names_is_one_diagram_on_a_page(build, tmp_path):
    """The author's, who names it as the package exports it; mkdocstrings documents it as its module defines it."""
    source = tmp_path / "source"
    (source / "docs").mkdir(parents=True)
    plugins = "[{mkdocstrings: {handlers: {python: {paths: [.]}}}}, {modeldiagrams: {mkdocstrings: true}}]"
    (source / "mkdocs.yml").write_text(f"site_name: x\nplugins: {plugins}\n")
    fence = "```model-graph\nmodel: shapes.Classifier\ncaption: The author's.\n```\n"
    other = "::: shapes.models.Other\n"
    (source / "docs" / "index.md").write_text(f"# Page\n\n::: shapes.models.Classifier\n\n{other}\n{fence}")
    (source / "docs" / "api.md").write_text(f"# API\n\n::: shapes.models.Classifier\n\n{other}")
    (source / "shapes").mkdir()
    (source / "shapes" / "__init__.py").write_text("from .models import Classifier\n")
    net = (
        "class {}(nn.Module):\n    '''A net.'''\n"
        "    def __init__(self):\n        super().__init__()\n        self.head = nn.Linear(4, 2)\n"
        "    def forward(self, x):\n        return self.head(x)\n"
    )
    models = "".join(map(net.format, ("Classifier", "Other")))
    (source / "shapes" / "models.py").write_text(f"from torch import nn\n{models}")
    for name in ("shapes.Classifier", "shapes.models.Classifier"):
        (source / SNAPSHOTS).mkdir(exist_ok=True)
        save(small_graph(), source / SNAPSHOTS / f"{name}.json")
    result = build(source, tmp_path / "out")
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert page.count("<model-graph ") == 2  # and that of the other class
    assert "The author's." in page
    assert result.stderr.count("index.md:") == result.stderr.count("shapes.Classifier.json no longer matches") == 1
    assert (tmp_path / "out" / "api" / "index.html").read_text("utf-8").count("<model-graph ") == 2
