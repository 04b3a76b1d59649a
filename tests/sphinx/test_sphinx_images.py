"""Authors' images in builders without HTML: below the diagram, with their text."""

from __future__ import annotations

import base64
import re
import zipfile

import pypdfium2
import pytest

from samples import png

LINE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="120" onload="a()"><rect width="9" height="9"/>'
    '<text x="20" y="40" font-family="monospace">Words of the image</text></svg>'
)
PAGE = """
.. model-graph:: ../net.json
   :embed: {fc: {image: map.png, alt: Sixteen filters}, x: {image: /line.svg, alt: A line}}

.. model-graph:: ../net.json
   :no-index:
   :embed: {fc: missing.png}
   :nowarn:
"""
CONF = 'epub_show_urls = "no"\nversion = "1"\ncopyright = "nobody"\nman_pages = [("index", "f", "f", [], 1)]\n'


@pytest.fixture(scope="module")
def built(make_site, build, tmp_path_factory):
    """Folder of each builder's output, after one reading of the sources."""
    source, out = make_site(CONF), tmp_path_factory.mktemp("out")
    (source / "pages").mkdir()
    (source / "pages" / "map.png").write_bytes(png(40, 30))
    (source / "line.svg").write_text(LINE)
    (source / "pages" / "one.rst").write_text(f"One\n===\n{PAGE}")
    (source / "index.rst").write_text("Index\n=====\n\n.. toctree::\n\n   pages/one\n")

    def run(builder):
        done = build(source, out / builder, "-W", "-b", builder, doctrees=out / "doctrees")
        assert done.returncode == 0, done.stderr
        return out / builder

    return run


@pytest.mark.parametrize(("builder", "file"), [("text", "pages/one.txt"), ("man", "f.1")])
def test_text_has_the_words_of_images(built, builder, file):
    text = (built(builder) / file).read_text("utf-8")
    assert "Sixteen filters" in text
    assert "A line" in text
    assert "data:" not in text


def test_latex_has_files_that_it_can_typeset(built):
    out = built("latex")
    text = next(out.glob("*.tex")).read_text("utf-8")
    below = text[text.index("Sixteen filters") - 2000 :]
    files = ["".join(parts) for parts in re.findall(r"\\sphinxincludegraphics(?:\[.*?\])?\{\{(.*?)\}(\.\w+)\}", below)]
    kinds = [file.rpartition(".")[2] for file in files]
    assert kinds.count("png") == 1
    (line,) = [file for file in files if file.startswith("image-")]
    with pypdfium2.PdfDocument(out / line) as document:
        assert "Words of the image" in document[0].get_textpage().get_text_range()
        assert document[0].get_size() == pytest.approx((225, 90), abs=1)
    assert "A line" in below


def test_epub_has_images_and_no_script(built):
    with zipfile.ZipFile(next(built("epub").glob("*.epub"))) as book:
        page = book.read("pages/one.xhtml").decode()
        sources = dict(re.findall(r'<img alt="([^"]*)" src="([^"]*)"', page))
    assert {"Sixteen filters", "A line"} <= sources.keys()
    assert "onload" not in page
    assert "<script" not in page


def test_a_changed_image_updates_the_page(make_site, build, tmp_path):
    source = make_site(one=".. model-graph:: net.json\n   :embed: {fc: map.png}")
    old, new = png(24), png(48)
    for content in (old, new):
        (source / "map.png").write_bytes(content)
        done = build(source, tmp_path / "out", "-W", "-b", "html")
        assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "one.html").read_text("utf-8")
    assert page.count(base64.b64encode(new).decode()) == 2
    assert base64.b64encode(old).decode() not in page
