"""Flat SVG, PNG and PDF files, and the errors without the libraries that write them."""

from __future__ import annotations

import functools
import re
import struct
import sys
import zlib
from pathlib import Path
from xml.dom.minidom import parseString

import msgspec
import pypdfium2
import pytest
import torch
from click.testing import CliRunner

import modeldiagrams
from modeldiagrams import OptionError, RenderError
from modeldiagrams.api.export import check_format
from modeldiagrams.cli import main
from modeldiagrams.ir.graph import OpNode
from modeldiagrams.options.options import View
from modeldiagrams.options.reading import PAGES
from modeldiagrams.render import flat
from modeldiagrams.render.draw import render
from modeldiagrams.render.glyphs import find_missing

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
    """Size and text of the only page."""
    with pypdfium2.PdfDocument(pdf) as document:
        (only,) = document
        return only.get_size(), only.get_textpage().get_text_range()


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_flat_svg_uses_plain_colours_and_outlines_only(name, theme):
    svg = modeldiagrams.to_svg(modeldiagrams.load(GOLDEN / f"{name}.json"), flat=True, theme=theme)
    parseString(svg)  # noqa: S318  (our own)
    assert not BROWSER_ONLY.search(svg)
    assert "<text" not in svg
    painted = re.findall(r'(?:fill|stroke)="([^"]*)"', svg)
    assert {colour for colour in painted if not re.fullmatch(r"#[0-9a-f]{6}", colour)} <= {"none"}


def test_themes_differ_only_in_colours(nested):
    light, dark = (modeldiagrams.to_svg(nested, flat=True, theme=theme) for theme in ("light", "dark"))
    assert light != dark
    shapes = [re.sub(r'"#[0-9a-f]{6}"', "", svg) for svg in (light, dark)]
    assert shapes[0] == shapes[1]


def test_png_has_size_of_picture_times_scale(nested):
    picture = render(nested, View())
    assert size(modeldiagrams.to_png(nested, scale=1)) == (picture.width, picture.height)
    assert size(modeldiagrams.to_png(nested)) == (2 * picture.width, 2 * picture.height)
    for wrong in (0, "2"):
        with pytest.raises(OptionError, match=f"option `scale`: expected a number above 0, got {wrong!r}"):
            modeldiagrams.to_png(nested, scale=wrong)


def test_png_size_is_limited(nested, monkeypatch):
    monkeypatch.setattr(flat, "_MOST_PIXELS", 1e4)
    width, height = size(modeldiagrams.to_png(nested, scale=1e9))
    assert 0.9e4 < width * height < 1.1e4


def test_pdf_is_one_page_of_picture_size_with_text_and_fonts(nested):
    picture = render(nested, View())
    made = modeldiagrams.to_pdf(nested)
    box, text = page(made)
    assert box == pytest.approx((picture.width * 0.75, picture.height * 0.75), abs=0.01)
    assert "Linear 4 → 2" in text
    assert b"+Inter-SemiBold" in made
    assert b"+Inter-Regular" in made
    assert made.startswith(b"%PDF-1.5")  # LaTeX warns of newer ones
    assert b"/CreationDate" not in made


def test_pdf_size_is_limited(nested, monkeypatch):
    monkeypatch.setattr(flat, "_LONGEST_PDF", 50)
    picture = render(nested, View())
    box, _ = page(modeldiagrams.to_pdf(nested))
    assert max(box) == pytest.approx(50)
    assert box[0] / box[1] == pytest.approx(picture.width / picture.height, rel=1e-3)


@pytest.mark.filterwarnings("ignore:no font on this machine")  # whether one has it differs
def test_characters_missing_from_our_font_use_system_fonts():
    graph = modeldiagrams.load(GOLDEN / "residual.json")
    name = "μπλοκ ∥ 块"
    renamed = [msgspec.structs.replace(node, name=name) if isinstance(node, OpNode) else node for node in graph.nodes]
    graph = msgspec.structs.replace(graph, nodes=tuple(renamed))
    svg = modeldiagrams.to_svg(graph, flat=True)
    assert svg.count("<text") == svg.count(name) > 0
    assert size(modeldiagrams.to_png(graph)) > (0, 0)
    assert "μπλοκ" in page(modeldiagrams.to_pdf(graph))[1]


class Picky(torch.nn.Module):
    """Picks rows by their values."""

    def forward(self, x):
        kept = x[x.sum(1) > 0]
        return kept + 1 if kept.sum() > 0 else kept


def test_files_say_what_was_assumed():
    """No page around them does."""
    graph = modeldiagrams.trace(Picky(), (torch.zeros(200_000, 4),), mode="fake")
    words = "real ones depend on values. A real pass may differ: Python asked for values"
    text = " ".join(page(modeldiagrams.to_pdf(graph))[1].split())
    assert words in text
    for is_flat in (False, True):
        svg = parseString(modeldiagrams.to_svg(graph, flat=is_flat))  # noqa: S318  (our own)
        (said,) = svg.getElementsByTagName("desc")
        assert words in said.firstChild.data
    shown = [item.firstChild.data for item in parseString(modeldiagrams.to_svg(graph)).getElementsByTagName("text")]  # noqa: S318
    assert words in " ".join(shown)
    assert size(modeldiagrams.to_png(graph, scale=1))[1] > render(graph, View()).height


def test_files_without_assumptions_say_nothing(nested):
    assert "<desc>" not in modeldiagrams.to_svg(nested)


def test_files_say_that_they_show_modules_only(nested):
    status = msgspec.structs.replace(nested.status, state="hierarchy")
    svg = modeldiagrams.to_svg(msgspec.structs.replace(nested, status=status))
    assert "<desc>Module hierarchy only: no forward pass was run.</desc>" in svg


@pytest.mark.parametrize("draw", [modeldiagrams.to_png, modeldiagrams.to_pdf])
def test_characters_that_no_font_has_are_named(draw):
    """Noncharacters and unassigned ones, so that it holds on machines with all fonts; a Greek letter is in most."""
    graph = modeldiagrams.load(GOLDEN / "residual.json")
    name = "a\u0378\U0002fffe"
    renamed = [msgspec.structs.replace(node, name=name) if isinstance(node, OpNode) else node for node in graph.nodes]
    with pytest.warns(UserWarning, match=r"no font on this machine has .*U\+") as found:
        draw(msgspec.structs.replace(graph, nodes=tuple(renamed)))
    assert "U+0061" not in str(found[0].message)


def test_missing_characters_are_those_drawn_like_one_that_no_font_has():
    """Each cell is compared with the first."""

    def pixels(svg, width):
        lacking = {"世", "\U0010fffd"}
        chars = re.findall(r"<text [^>]*>(.)</text>", svg)
        row = b"".join((b"\0\0\0\xff" if char in lacking else char.encode("utf-32-le")) * 24 for char in chars)
        header = struct.pack(">IIBBBBB", width, 24, 8, 6, 0, 0, 0)
        parts = ((b"IHDR", header), (b"IDAT", zlib.compress((b"\0" + row) * 24)), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + bytes(4) for kind, data in parts
        )

    foreign = '<text x="1" font-family="sans-serif" y="2"><tspan>世 a&amp;界</tspan>é</text>'
    assert find_missing(f'{foreign}<text font-family="Inter">器</text>', pixels) == "世"
    assert find_missing("<text>世</text>", pixels) == ""


@pytest.mark.parametrize("paper", ["a4", "letter", (300, 200), (2000, 300)])
@pytest.mark.parametrize("name", GRAPHS)
def test_fit_limits_pdf_to_page(name, paper):
    graph = modeldiagrams.load(GOLDEN / f"{name}.json")
    width, height = PAGES.get(paper, paper)
    box, _ = page(modeldiagrams.to_pdf(graph, fit=paper))
    assert box[0] <= width * 0.75 + 0.01
    assert box[1] <= height * 0.75 + 0.01


@pytest.mark.parametrize(("library", "kind"), [("resvg_py", "png"), ("typst", "pdf")])
def test_missing_library_error_says_how_to_install_it(nested, monkeypatch, library, kind):
    monkeypatch.setitem(sys.modules, library, None)
    draw = {"png": modeldiagrams.to_png, "pdf": modeldiagrams.to_pdf}[kind]
    with pytest.raises(RenderError, match=rf'pip install "modeldiagrams\[{kind}\]"'):
        draw(nested)


def test_invalid_theme_is_an_option_error(nested):
    for draw in (modeldiagrams.to_png, modeldiagrams.to_pdf, functools.partial(modeldiagrams.to_svg, flat=True)):
        with pytest.raises(OptionError, match="option `theme`: expected light or dark, got 'sepia'"):
            draw(nested, theme="sepia")


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("a.svg", {"theme": "dark"}, "option `theme`: .svg files take the colours of the page around them"),
        ("a.html", {"theme": "light"}, "option `theme`: .html files take the colours of the page"),
        ("a.html", {"flat": True}, "option `flat`: .html files have no flat form"),
        ("a.json", {"theme": "dark"}, "option `theme`: .json files contain no picture"),
        ("a.dot", {"flat": True}, "option `flat`: .dot files have no flat form"),
        ("a.mmd", {"theme": "dark"}, "option `theme`: .mmd files contain no picture"),
        ("a.json", {"view": ["depth"]}, "option `depth`: .json files contain the whole graph"),
        ("a", {}, "option `path`: expected a name ending in .json, .svg, .png, .pdf, .html, .dot, .mmd, got 'a'"),
    ],
)
def test_option_that_the_file_format_ignores_is_an_error(name, given, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        check_format(name, **given)
    options = {"flat": "--flat", "theme": f"--theme={given.get('theme')}", "view": "--depth=1"}
    command = ["render", "missing.json", "-o", name, *(options[option] for option in given)]
    asked = CliRunner().invoke(main, command)
    assert asked.exit_code == 2
    assert message.replace("option `path`", "option `-o`") in asked.output


def test_file_formats_accept_their_options():
    for name in ("a.svg", "a.png", "a.pdf"):
        check_format(name, flat=True, theme="dark", view=["fit"])
    check_format("a.html", view=["depth"])
