"""Pictures on paper: equal in every build, and something else where what makes them is missing."""

from __future__ import annotations

import re
import shutil
import zipfile

import pytest

from modeldiagrams import assets
from sphinx_modeldiagrams import static

CONF = """
import sys
extensions = ["sphinx_modeldiagrams"]
project = "fixture"
for name in {missing!r}:
    sys.modules[name] = None
"""
PAGE = """
Title
=====

.. model-graph:: net.json
   :caption: First

.. model-graph:: net.json
   :direction: LR
   :no-index:
"""


@pytest.fixture
def source(site, tmp_path):
    """Makes a site of one page with two diagrams, where some libraries can't be imported."""

    def make(*missing, **config):
        folder = tmp_path / "source"
        folder.mkdir(exist_ok=True)
        (folder / "net.json").write_bytes((site / "net.json").read_bytes())
        (folder / "index.rst").write_text(PAGE)
        settings = "".join(f"{name} = {value!r}\n" for name, value in config.items())
        (folder / "conf.py").write_text(CONF.format(missing=missing) + settings)
        return folder

    return make


@pytest.fixture
def latex(source, tmp_path, build):
    """Builds it; text and warnings."""

    def run(*missing, **config):
        done = build(source(*missing, **config), tmp_path / "out", "-b", "latex")
        assert done.returncode == 0, done.stderr
        return (tmp_path / "out" / "fixture.tex").read_text("utf-8"), done.stderr

    return run


@pytest.mark.parametrize("name", ["static.js", "flat.js", "inter-regular.ttf", "inter-semibold.ttf"])
def test_pictures_are_drawn_anew_where_what_draws_them_is_another(name, tmp_path, monkeypatch):
    shutil.copytree(assets._STATIC, tmp_path / "static")
    monkeypatch.setattr(assets, "_STATIC", tmp_path / "static")
    before = static._key(["--depth=1"], b"{}")
    assert static._key(["--depth=1"], b"{}") == before
    (tmp_path / "static" / name).write_bytes(b"other")
    assert static._key(["--depth=1"], b"{}") != before


def pictures(text):
    return re.findall(r"\\sphinxincludegraphics(?:\[(.*?)\])?\{\{(.*?)\}(\.\w+)\}", text)


def test_without_typst_pictures_are_pixels_and_one_warning_says_so(latex, tmp_path):
    text, warnings = latex("typst")
    found = pictures(text)
    assert [suffix for _, _, suffix in found] == [".png", ".png"]
    assert all((tmp_path / "out" / f"{base}{suffix}").is_file() for _, base, suffix in found)
    # as large as the vector picture, though of twice as many pixels
    assert all(size.startswith("width=") for size, _, _ in found)
    assert warnings.count("WARNING") == 1
    assert 'diagrams are PNG files here, because PDF files can\'t be made: pip install "modeldiagrams[pdf]"' in warnings


def test_with_neither_library_diagrams_are_outlines(latex):
    text, warnings = latex("typst", "resvg_py")
    assert pictures(text) == []
    assert "Architecture of Net" in text
    assert "Linear" in text
    assert warnings.count("WARNING") == 1
    assert 'diagrams are text here, because PDF files can\'t be made: pip install "modeldiagrams[pdf]"' in warnings


def test_the_warning_can_be_switched_off(latex):
    _, warnings = latex("typst", suppress_warnings=["modeldiagrams.static"])
    assert "WARNING" not in warnings


@pytest.mark.parametrize("paper", ["a4paper", "letterpaper"])
def test_builds_are_equal_and_the_second_draws_nothing(source, tmp_path, build, paper):
    folder, doctrees = source(latex_elements={"papersize": paper}), tmp_path / "doctrees"
    made = []
    for out in (tmp_path / "one", tmp_path / "two"):
        done = build(folder, out, "-W", "-b", "latex", doctrees=doctrees)
        assert done.returncode == 0, done.stderr
        drawn = sorted(doctrees.glob("modeldiagrams/*/*.pdf"))
        assert len(drawn) == 2
        made.append(
            (
                {path.name: path.read_bytes() for path in out.glob("*.pdf")},
                [path.stat().st_mtime_ns for path in drawn],
            )
        )
    assert made[0] == made[1]


def test_a_book_holds_each_picture_once(source, tmp_path, build):
    """Without ``-d``, Sphinx keeps its doctrees in the book's folder, and what we drew in them."""
    out = tmp_path / "out"
    for _ in range(2):
        done = build(source(epub_show_urls="no", version="1"), out, "-b", "epub", doctrees=out / ".doctrees")
        assert done.returncode == 0, done.stderr
        with zipfile.ZipFile(out / "fixture.epub") as book:
            assert len([name for name in book.namelist() if name.endswith(".svg")]) == 2
