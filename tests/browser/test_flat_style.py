"""Flat pictures, and pictures without their style sheet, look as Chromium draws the others, part by part."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from modeldiagrams.ir.serialize import load
from modeldiagrams.options.options import View
from modeldiagrams.render.draw import Flat, render

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.json"))
IN_THE_DARK = {"stack", "raises_midway"}

STYLES = """
() => {
  const opacity = (node) => (node instanceof Element ? getComputedStyle(node).opacity * opacity(node.parentNode) : 1);
  const paint = (node, name) => {
    const style = getComputedStyle(node);
    return [style[name], style[`${name}Opacity`] * opacity(node)];
  };
  const shape = (node) => {
    const { strokeWidth, strokeDasharray, strokeLinecap, strokeLinejoin } = getComputedStyle(node);
    const lines = [strokeWidth, strokeDasharray, strokeLinecap, strokeLinejoin];
    return { fill: paint(node, "fill"), stroke: paint(node, "stroke"), rest: lines };
  };
  const run = (text, child) => {
    const node = child instanceof Element ? child : text;
    const { fontSize, fontWeight } = getComputedStyle(node);
    const words = [child.textContent, fontSize, fontWeight, getComputedStyle(text).textAnchor];
    return { fill: paint(node, "fill"), stroke: paint(node, "stroke"), rest: words };
  };
  const drawn = [...document.querySelectorAll("rect, path, circle, text")];
  const runs = (node) => [...node.childNodes].map((child) => run(node, child));
  return drawn.flatMap((node) => node.tagName === "text" ? runs(node) : [shape(node)]);
}
"""


def colour(paint):
    """Red, green, blue and alpha of a paint; only the alpha of a transparent one."""
    text, opacity = paint
    if text == "none":
        return (0, 0, 0, 0)
    numbers = [float(number) for number in re.findall(r"[\d.]+(?:e-?\d+)?", text)]
    scale = 255 if text.startswith("color(srgb") else 1
    red, green, blue, alpha = (*(channel * scale for channel in numbers[:3]), *numbers[3:], 1)[:4]
    return (red, green, blue, alpha * opacity) if alpha * opacity else (0, 0, 0, 0)


def visible(styles):
    """The styles of visible elements; strokes only where there are any."""
    for style in styles:
        fill, stroke = colour(style["fill"]), colour(style["stroke"])
        if fill[3] or stroke[3]:
            is_text = style["rest"][-1] in {"start", "middle", "end"}
            yield fill, stroke, style["rest"] if stroke[3] or is_text else []


# both themes have the same shapes; what each family's colours are is in the largest two
@pytest.mark.parametrize(
    ("name", "theme"),
    [
        *((name, "light") for name in NAMES),
        *(pytest.param(name, "dark", marks=() if name in IN_THE_DARK else pytest.mark.zoo) for name in NAMES),
    ],
)
def test_flat_picture_has_chromiums_styles(reader_with, tmp_path, name, theme):
    graph = load(GOLDEN / f"{name}.json")
    styled = render(graph, View(depth=9), standalone=True)
    flat = render(graph, View(depth=9), flat=Flat(theme=theme, outlines=False))
    found = []
    with reader_with(color_scheme=theme) as reader:
        page = reader.page
        for picture in (styled, flat):
            (tmp_path / "picture.svg").write_text(picture.svg, "utf-8")
            page.goto((tmp_path / "picture.svg").as_uri())
            found.append(list(visible(page.evaluate(STYLES))))
        background = page.evaluate("() => getComputedStyle(document.querySelector('rect')).fill")
        (tmp_path / "picture.svg").write_text(styled.svg, "utf-8")
        page.goto((tmp_path / "picture.svg").as_uri())
        assert background == page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
    expected, (_, *got) = found
    assert len(got) == len(expected)
    for (fill, stroke, rest), (flat_fill, flat_stroke, flat_rest) in zip(expected, got, strict=True):
        # colours are rounded to whole numbers, opacities to hundredths
        assert flat_fill == pytest.approx(fill, abs=0.51)
        assert flat_stroke == pytest.approx(stroke, abs=0.51)
        assert flat_fill[3] == pytest.approx(fill[3], abs=0.006)
        assert flat_stroke[3] == pytest.approx(stroke[3], abs=0.006)
        assert flat_rest == rest


@pytest.mark.parametrize("name", NAMES)
def test_picture_without_style_sheet_looks_the_same(reader, tmp_path, name):
    """As in feeds and e-mail. Its text is fully opaque, so that it is legible on dark pages, too."""
    graph = load(GOLDEN / f"{name}.json")
    styled = render(graph, View(depth=9), standalone=True)
    bare = render(graph, View(depth=9))
    assert "<style" not in bare.svg
    page = reader.page
    found = []
    for svg in (styled.svg, re.sub(r' class="[^"]*"', "", bare.svg)):
        (tmp_path / "picture.svg").write_text(svg, "utf-8")
        page.goto((tmp_path / "picture.svg").as_uri())
        found.append(list(visible(page.evaluate(STYLES))))
    for (fill, stroke, rest), (bare_fill, bare_stroke, bare_rest) in zip(*found, strict=True):
        assert bare_rest == rest
        for paint, bare_paint in ((fill, bare_fill), (stroke, bare_stroke)):
            # text and wires have the colour of the page, which is black here
            is_text = bare_paint[:3] == (0, 0, 0) and bare_paint[3] > 0
            colours = (31, 35, 40) if is_text else bare_paint[:3]
            assert colours == pytest.approx(paint[:3], abs=0.51)
            assert bare_paint[3] == pytest.approx(paint[3], abs=0.33 if is_text else 0.003)


def test_style_sheet_wins_over_attributes(reader, tmp_path):
    """A picture has the same style with its attributes as without them, as long as it has its style sheet."""
    graph = load(GOLDEN / "stack.json")
    styled = render(graph, View(depth=9), standalone=True)
    plain = re.sub(r' (?:fill|stroke|font|text-anchor|opacity)[a-z-]*="[^"]*"', "", styled.svg)
    assert len(plain) < len(styled.svg)
    found = []
    for svg in (styled.svg, plain):
        (tmp_path / "picture.svg").write_text(svg, "utf-8")
        reader.page.goto((tmp_path / "picture.svg").as_uri())
        found.append(list(visible(reader.page.evaluate(STYLES))))
    assert found[0] == found[1]
