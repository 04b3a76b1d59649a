"""Comparisons in builders without HTML: every one lists the changes, and some have a picture."""

from __future__ import annotations

import zipfile

import pytest

from graphs import changed_graph
from modeldiagrams.ir.serialize import save

CONF = """
epub_show_urls = "no"
copyright = "2026"
project = "fixture"
version = "1"
man_pages = [("index", "fixture", "fixture", [], 1)]
latex_documents = [("index", "fixture.tex", "fixture", "a", "manual")]
"""
PAGE = """
.. model-diff:: changed.json
   :before: net.json
   :caption: Since then.
"""
TEXTS = {"text": "index.txt", "man": "fixture.1", "latex": "fixture.tex"}


@pytest.fixture(scope="module")
def outputs(make_site, build, tmp_path_factory):
    source = make_site(CONF, index=PAGE)
    save(changed_graph(), source / "changed.json")
    out = tmp_path_factory.mktemp("out")
    for builder in (*TEXTS, "epub"):
        result = build(source, out / builder, "-W", "-b", builder, doctrees=out / "doctrees")
        assert result.returncode == 0, result.stderr
    return out


@pytest.mark.parametrize("builder", TEXTS)
def test_every_builder_lists_the_changes(outputs, builder):
    text = " ".join((outputs / builder / TEXTS[builder]).read_text("utf-8").split())
    assert "notable" in text
    assert "op relu replaced by gelu" in text
    assert "Since then." in text


def test_latex_has_the_picture(outputs):
    text = (outputs / "latex" / "fixture.tex").read_text("utf-8")
    figure = text[text.index(r"\begin{figure}") : text.index(r"\end{figure}")]
    assert r"\sphinxincludegraphics" in figure
    assert "replaced" not in figure  # a long list needs several pages
    assert len([*(outputs / "latex").glob("changed.json*.pdf")]) == 1


def test_epub_has_list_and_picture(outputs):
    with zipfile.ZipFile(next((outputs / "epub").glob("*.epub"))) as book:
        page = book.read("index.xhtml").decode()
        (picture,) = (name for name in book.namelist() if name.endswith(".svg"))
        assert "op relu replaced by gelu" in page
        assert "relu → gelu" not in page  # the words are in the picture, as outlines
        assert len(book.read(picture)) > 1000
