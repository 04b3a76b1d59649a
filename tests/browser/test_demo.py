"""The documentation, built by both tools and opened from disk and over http."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Page

from browser.readers import Reader
from browser.serving import served

BUILD = Path(__file__).parents[2] / "docs" / "build.py"
MODELS = {
    "demo_models.EarlyExit",
    "demo_models.ResidualCNN",
    "demo_models.LSTMClassifier",
    "demo_models.LSTMLoop",
    "demo_models.UNet",
    "demo_models.convolutional.DenseBlock",
    "demo_models.rules.Block",
    "demo_models.rules.ConvolutionBlock",
    "demo_models.rules.Rotary",
    "demo_models.rules.Stacked",
    "demo_models.rules.Towers",
    "demo_models.rules.Twins",
    "torch.nn.Transformer",
    "transformers.BertModel",
    "transformers.DeepseekV3ForCausalLM",
    "transformers.GPT2LMHeadModel",
    "transformers.LlamaForCausalLM",
    "transformers.ViTForImageClassification",
    "transformers.T5ForConditionalGeneration",
    "transformers.MixtralForCausalLM",
}
FRAGMENT = re.compile(r"<model-graph .*?</model-graph>", re.DOTALL)
FRAGMENT_BUDGET = 30_000
"""Bytes, compressed, of one diagram on its page."""
WIDGET_BUDGET = 45_000
"""Bytes, compressed, of the script all diagrams share."""

FEATURES = {"cases.js", "notes.js", "prose.js", "recording.js"}
"""What pages load at once for cases, notes, tours and recordings; there is no layout in it, and no graph."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both sites; the build makes every warning an error."""
    output = tmp_path_factory.mktemp("demo")
    # `make zoo` builds the pages of whole libraries
    subprocess.run([sys.executable, BUILD, output], check=True, env={**os.environ, "MODELDIAGRAMS_LIGHT": "1"})
    return output


@pytest.fixture(scope="module")
def server(demo: Path) -> Iterator[str]:
    with served(demo) as address:
        yield address


def pages(demo: Path, tool: str) -> dict[Path, list[str]]:
    """Pages with diagrams, relative to `demo` → the HTML of each diagram.

    Without how-tos, where some show one tool, and without the pages of catalogues' models.
    """
    paths = (path for path in sorted((demo / tool).rglob("*.html")) if not {"howto", "catalogue"} & {*path.parts})
    found = {path: FRAGMENT.findall(path.read_text("utf-8")) for path in paths}
    return {path.relative_to(demo): fragments for path, fragments in found.items() if fragments}


@pytest.mark.parametrize("tool", ["sphinx", "mkdocs"])
def test_pages_show_every_model_within_the_size_budget(demo: Path, tool: str) -> None:
    fragments = [fragment for found in pages(demo, tool).values() for fragment in found]
    shown = {match[1] for fragment in fragments if (match := re.search(r' graph="([\w.]+)', fragment))}
    assert shown == MODELS
    for fragment in fragments:
        assert "<svg" in fragment
        assert "mg-problem" not in fragment
        assert len(gzip.compress(fragment.encode(), 9)) <= FRAGMENT_BUDGET
    script = demo / tool / "modeldiagrams" / "model-graph.js"
    assert len(gzip.compress(script.read_bytes(), 9)) <= WIDGET_BUDGET


def test_both_tools_build_every_page(demo: Path) -> None:
    source = BUILD.parent / "pages"
    names = {page.relative_to(source).with_suffix("") for page in source.rglob("*.md")} - {Path("examples/gallery")}
    names = {name for name in names if "catalogue" not in name.parent.name}
    assert {name for name in names if not (demo / "sphinx" / name).with_suffix(".html").exists()} == set()
    folders = {name.parent if name.name == "index" else name for name in names}
    assert {name for name in folders if not (demo / "mkdocs" / name / "index.html").exists()} == set()


def test_both_tools_draw_equal_pictures(demo: Path) -> None:
    first_frames = [
        {svg for found in pages(demo, tool).values() for svg in re.findall(r"<svg.*?</svg>", "".join(found), re.DOTALL)}
        for tool in ("sphinx", "mkdocs")
    ]
    assert first_frames[0] == first_frames[1]


def test_search_finds_modules_and_no_labels(demo: Path) -> None:
    index = (demo / "mkdocs" / "search" / "search_index.json").read_text("utf-8")
    assert all(word in index for word in ("ResidualBlock", "submodule", "Train mode"))
    assert "7\u00d77, s2" not in index
    assert "modelDiagramsData" not in index


@pytest.mark.parametrize(("tool", "scheme"), [("sphinx", "http"), ("mkdocs", "file")])
def test_diagrams_work_and_load_nothing_before_use(
    demo: Path, server: str, reader_with: Callable[[], AbstractContextManager[Reader]], tool: str, scheme: str
) -> None:
    root = demo.as_uri() if scheme == "file" else server
    toggled = 0
    # the tools' pictures are equal (above): of each two pages one is used in each
    for turn, (path, fragments) in enumerate(pages(demo, tool).items()):
        with reader_with(listens=True) as reader:
            reader.page.goto(f"{root}/{path.as_posix()}")
            ours = {url.rpartition("/")[2] for url in reader.urls if "/modeldiagrams/" in url}
            assert ours - FEATURES == {"model-graph.css", "model-graph.js"}, path
            if turn % 2 == (tool == "sphinx"):
                toggled += sum(toggle_twice(reader.page, number) for number in range(len(fragments)))
            assert [url for url in reader.urls if not url.startswith((root, "data:"))] == [], "fetched from elsewhere"
    assert toggled >= 8, "of 20 diagrams, only the LSTM classifier is all leaves"


def toggle_twice(page: Page, number: int) -> bool:
    """Toggle the first expandable module of a diagram twice, but not in a live tour, whose steps close it."""
    diagram = page.locator("model-graph").nth(number)
    if page.locator(".mg-tour.mg-live model-graph").and_(diagram).count():
        return False
    module = diagram.locator(".mg-stage [aria-expanded]").first
    if not module.count():
        return False
    node, before = module.evaluate("e => [e.closest('[data-id]').dataset.id, e.ariaExpanded]")
    for state in ("false" if before == "true" else "true", before):
        module = diagram.locator(f'.mg-stage [data-id="{node}"]')
        module.scroll_into_view_if_needed()
        header = module.locator("> .mg-header")
        # not in the middle, through which a wire may lead
        header.click(position={"x": 6, "y": 6}) if header.count() else module.click()
        said = f'[aria-expanded="{state}"]'
        diagram.locator(f'.mg-stage [data-id="{node}"]:is({said}, :has(> .mg-header{said}))').wait_for()
    return True
