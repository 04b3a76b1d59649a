"""Flat SVG, PNG and PDF: what is in the files, and what is said where their makers are missing."""

from __future__ import annotations

import functools
import re
import struct
import subprocess
import sys
from pathlib import Path
from xml.dom.minidom import parseString

import msgspec
import pypdfium2
import pytest
from click.testing import CliRunner

import modeldiagrams
from modeldiagrams import OptionError, RenderError, flat
from modeldiagrams.__main__ import main
from modeldiagrams.export import check_form
from modeldiagrams.graph import OpNode
from modeldiagrams.render import PAGES, Picture, View, render

GOLDEN = Path(__file__).parents[1] / "golden"
GRAPHS = sorted(path.stem for path in GOLDEN.glob("*.json"))
BROWSER_ONLY = re.compile(r"var\(|color-mix|light-dark|currentColor|class=|style|foreignObject|marker|url\(")


@pytest.fixture(scope="module")
def nested():
    return modeldiagrams.load(GOLDEN / "nested.json")


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])


def page(pdf: bytes) -> tuple[tuple[float, float], str]:
    """The one page's size, and its text."""
    with pypdfium2.PdfDocument(pdf) as document:
        (only,) = document
        return only.get_size(), only.get_textpage().get_text_range()


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_flat_picture_asks_nothing_of_a_browser(name, theme):
    svg = modeldiagrams.to_svg(modeldiagrams.load(GOLDEN / f"{name}.json"), flat=True, theme=theme)
    parseString(svg)  # noqa: S318  (our own)
    assert not BROWSER_ONLY.search(svg)
    assert "<text" not in svg
    painted = re.findall(r'(?:fill|stroke)="([^"]*)"', svg)
    assert {colour for colour in painted if not re.fullmatch(r"#[0-9a-f]{6}", colour)} <= {"none"}


def test_themes_differ_in_colours_only(nested):
    light, dark = (modeldiagrams.to_svg(nested, flat=True, theme=theme) for theme in ("light", "dark"))
    assert light != dark
    shapes = [re.sub(r'"#[0-9a-f]{6}"', "", svg) for svg in (light, dark)]
    assert shapes[0] == shapes[1]


def test_a_png_has_the_pictures_size_times_the_scale(nested):
    picture = render(nested, View())
    assert size(modeldiagrams.to_png(nested, scale=1)) == (picture.width, picture.height)
    assert size(modeldiagrams.to_png(nested)) == (2 * picture.width, 2 * picture.height)
    for wrong in (0, "2"):
        with pytest.raises(OptionError, match=f"option 'scale': expected a number above 0, got {wrong!r}"):
            modeldiagrams.to_png(nested, scale=wrong)


def test_a_png_has_no_more_pixels_than_memory_holds(nested, monkeypatch):
    monkeypatch.setattr(flat, "_MOST_PIXELS", 1e4)
    width, height = size(modeldiagrams.to_png(nested, scale=1e9))
    assert 0.9e4 < width * height < 1.1e4


def test_a_pdf_is_one_page_of_the_pictures_size_with_text_and_its_fonts(nested):
    picture = render(nested, View())
    made = modeldiagrams.to_pdf(nested)
    box, text = page(made)
    assert box == pytest.approx((picture.width * 0.75, picture.height * 0.75), abs=0.01)
    assert "Linear 4 → 2" in text
    assert b"+Inter-SemiBold" in made
    assert b"+Inter-Regular" in made
    assert made.startswith(b"%PDF-1.5")  # LaTeX warns of newer ones
    assert b"/CreationDate" not in made


def test_a_picture_larger_than_readers_of_pdf_allow_is_made_smaller():
    tall = Picture(svg=render(modeldiagrams.load(GOLDEN / "residual.json"), View()).svg, width=128, height=1, state={})
    tall = msgspec.structs.replace(tall, height=40_000)
    box, _ = page(flat.as_pdf(tall))
    assert max(box) == pytest.approx(14_400)
    assert box[0] / box[1] == pytest.approx(128 / 40_000, rel=1e-3)


def test_equal_graphs_give_equal_bytes(nested, tmp_path):
    """Also in another process, in which strings hash differently."""
    for name in ("one.svg", "one.png", "one.pdf"):
        subprocess.run(
            [sys.executable, "-m", "modeldiagrams", "render", GOLDEN / "nested.json", "--flat", "-o", tmp_path / name],
            check=True,
            capture_output=True,
        )
    assert (tmp_path / "one.svg").read_text("utf-8") == modeldiagrams.to_svg(nested, flat=True)
    assert (tmp_path / "one.png").read_bytes() == modeldiagrams.to_png(nested)
    assert (tmp_path / "one.pdf").read_bytes() == modeldiagrams.to_pdf(nested)


def test_characters_our_font_lacks_stay_text_and_show():
    """The machine's fonts may have them; they are looked for only then."""
    graph = modeldiagrams.load(GOLDEN / "residual.json")
    name = "μπλοκ ∥ 块"
    renamed = [msgspec.structs.replace(node, name=name) if isinstance(node, OpNode) else node for node in graph.nodes]
    graph = msgspec.structs.replace(graph, nodes=tuple(renamed))
    svg = modeldiagrams.to_svg(graph, flat=True)
    assert svg.count("<text") == svg.count(name) > 0
    assert size(modeldiagrams.to_png(graph)) > (0, 0)
    assert "μπλοκ" in page(modeldiagrams.to_pdf(graph))[1]


@pytest.mark.parametrize("paper", ["a4", "letter", (300, 200), (2000, 300)])
@pytest.mark.parametrize("name", GRAPHS)
def test_what_fits_a_page_is_no_larger(name, paper):
    graph = modeldiagrams.load(GOLDEN / f"{name}.json")
    width, height = PAGES.get(paper, paper)
    box, _ = page(modeldiagrams.to_pdf(graph, fit=paper))
    assert box[0] <= width * 0.75 + 0.01
    assert box[1] <= height * 0.75 + 0.01


@pytest.mark.parametrize(("library", "kind"), [("resvg_py", "png"), ("typst", "pdf")])
def test_a_missing_library_is_named_with_how_to_install_it(nested, monkeypatch, library, kind):
    monkeypatch.setitem(sys.modules, library, None)
    draw = {"png": modeldiagrams.to_png, "pdf": modeldiagrams.to_pdf}[kind]
    with pytest.raises(RenderError, match=rf'pip install "modeldiagrams\[{kind}\]"'):
        draw(nested)


def test_a_wrong_theme_is_an_option_error(nested):
    for draw in (modeldiagrams.to_png, modeldiagrams.to_pdf, functools.partial(modeldiagrams.to_svg, flat=True)):
        with pytest.raises(OptionError, match="option 'theme': expected light or dark, got 'sepia'"):
            draw(nested, theme="sepia")


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("a.svg", {"theme": "dark"}, "option 'theme': .svg files have the colours of the page they are shown on"),
        ("a.html", {"theme": "light"}, "option 'theme': .html files have the colours of the page"),
        ("a.html", {"flat": True}, "option 'flat': .html files have no flat form"),
        ("a.json", {"theme": "dark"}, "option 'theme': .json files hold no picture"),
        ("a.json", {"view": ["depth"]}, "option 'depth': .json files hold the whole graph"),
        ("a", {}, "option 'path': expected a name ending in .json, .svg, .png, .pdf, .html, got 'a'"),
    ],
)
def test_what_a_form_of_file_would_ignore_is_an_error_before_anything_is_done(name, given, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        check_form(name, **given)
    options = {"flat": "--flat", "theme": f"--theme={given.get('theme')}", "view": "--depth=1"}
    command = ["render", "missing.json", "-o", name, *(options[option] for option in given)]
    asked = CliRunner().invoke(main, command)
    assert asked.exit_code == 2
    assert message in asked.output


def test_forms_take_what_means_something_to_them():
    for name in ("a.svg", "a.png", "a.pdf"):
        check_form(name, flat=True, theme="dark", view=["fit"])
    check_form("a.html", view=["depth"])
