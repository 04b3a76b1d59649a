"""A site's colours apply to pages and flat pictures, and text on them is legible."""

from __future__ import annotations

import re

import pytest

import modeldiagrams
from graphs import small_graph
from modeldiagrams import OptionError
from modeldiagrams.options.options import View
from modeldiagrams.options.palette import compute_contrasts
from modeldiagrams.render.draw import Flat, render

COLOUR = "#c2569b"
BOX = re.compile(rf'<rect [^>]*fill="{COLOUR}" fill-opacity="([\d.]+)"')
PAGE = re.compile(r'<rect x="0" y="0" [^>]*fill="(#\w{6})"')
INK = re.compile(r'<svg [^>]*fill="(#\w{6})"')
DETAIL = re.compile(r'font-size="11" fill-opacity="([\d.]+)"')


def over(colour: str, behind: tuple[float, ...], share: float) -> tuple[float, ...]:
    parts = bytes.fromhex(colour[1:])
    return tuple(part / 255 * share + other * (1 - share) for part, other in zip(parts, behind, strict=True))


def brightness(colour: tuple[float, ...]) -> float:
    red, green, blue = (part / 12.92 if part < 0.04 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_have_enough_contrast(theme) -> None:
    flat = Flat(theme=theme, outlines=False)
    svg = render(small_graph(), View(palette={"linear": COLOUR}), flat=flat).svg
    (page,), (ink,), (share, *_) = (each.findall(svg) for each in (PAGE, INK, DETAIL))
    (tint,) = set(BOX.findall(svg))
    box = over(COLOUR, over(page, (0, 0, 0), 1), float(tint))
    bright = sorted((brightness(box), brightness(over(ink, box, float(share)))))
    assert bright[1] / bright[0] == pytest.approx(compute_contrasts(COLOUR)[theme], rel=1e-3)


def test_one_palette_for_all_formats() -> None:
    view = {"palette": {"linear": COLOUR.upper()}}
    assert f'"{COLOUR}"' in modeldiagrams.to_svg(small_graph(), flat=True, **view)
    assert f".mg-svg:root{{--mg-hue-linear:{COLOUR};}}" in modeldiagrams.to_svg(small_graph(), **view)
    assert f"model-graph{{--mg-hue-linear:{COLOUR};}}" in modeldiagrams.to_html(small_graph(), **view)
    assert modeldiagrams.to_png(small_graph(), **view) != modeldiagrams.to_png(small_graph())


@pytest.mark.parametrize(
    ("palette", "message"),
    [
        ({"linear": "reddish"}, "expected a colour like '#7196db' for linear, not 'reddish'"),
        ("linear: #fff", "expected a colour like '#7196db' for linear, not None; in YAML it needs quotes"),
        ({"lineaar": "#aaa"}, "expected kinds of layers (embedding, attention, linear"),
        (
            {"linear": "#FF0"},
            "linear: text on #ffff00 has a contrast of 3.52 on dark pages, less than 4.5; choose a darker",
        ),
        (["#aaa"], "expected a map, got ['#aaa']"),
    ],
)
def test_wrong_colours_say_what_is_expected(palette, message) -> None:
    with pytest.raises(OptionError) as caught:
        modeldiagrams.to_svg(small_graph(), palette=palette)
    assert message in str(caught.value)
