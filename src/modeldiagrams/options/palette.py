"""The colours that a site chooses for kinds of layers: one palette for style sheets and for flat pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.kinds import Kind
from modeldiagrams.options.reading import read_map

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LEAST_CONTRAST", "contrasts", "palette_variables", "read_palette"]

LEAST_CONTRAST = 4.5
"""Of text and what is behind it: level AA of the Web Content Accessibility Guidelines."""

_DARKEST = 0.04045
"""Up to here sRGB is linear."""

_COLOUR = re.compile(r"#([0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)


def read_palette(value: Any) -> Any:
    """A map from kinds to colours, as ``#rrggbb``; also as text.

    Raises:
        ModelDiagramsError: naming the first kind that is none, or whose colour is none or makes text hard to read.
    """
    value = read_map(value)
    return {kind: _read(kind, colour) for kind, colour in value.items()} if isinstance(value, dict) else value


def _read(kind: str, colour: Any) -> str:
    if kind not in get_args(Kind):
        raise ModelDiagramsError(f"expected kinds of layers ({', '.join(get_args(Kind))}), not {kind!r}")
    if not isinstance(colour, str) or not _COLOUR.fullmatch(colour):
        text = f"expected a colour like '#7196db' for {kind}, not {colour!r}"
        raise ModelDiagramsError(f"{text}; in YAML it needs quotes" if colour is None else text)
    digits = colour[1:].lower()
    plain = f"#{digits if len(digits) == len('rrggbb') else ''.join(digit * 2 for digit in digits)}"
    theme, found = min(contrasts(plain).items(), key=lambda one: one[1])
    if found < LEAST_CONTRAST:
        # tints of black are light enough on light pages
        text = f"text on {plain} has a contrast of {found:.2f} on {theme} pages, less than {LEAST_CONTRAST}"
        raise ModelDiagramsError(f"{kind}: {text}; take a darker colour")
    return plain


def contrasts(colour: str) -> dict[str, float]:
    """Theme → contrast of the faintest text in a box of this colour."""
    table = msgspec.json.decode(Path(__file__).with_name("palette.json").read_bytes())  # as the viewer reads it
    return {
        theme: _contrast(_mixed(page["text"], box, table["detail_text"] / 100), box)
        for theme, page in table["themes"].items()
        for box in [_mixed(colour, page["background"], table["box_tint"] / 100)]
    }


def _mixed(colour: str | list[float], behind: str | list[float], share: float) -> list[float]:
    return [one * share + other * (1 - share) for one, other in zip(_rgb(colour), _rgb(behind), strict=True)]


def _rgb(colour: str | list[float]) -> list[float]:
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] if isinstance(colour, str) else colour


def _contrast(one: list[float], other: list[float]) -> float:
    """As the guidelines define it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: list[float]) -> float:
    linear = [part / 12.92 if part <= _DARKEST else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def palette_variables(palette: Mapping[Kind, str] | None) -> dict[str, str]:
    """The custom properties with which style sheets take a palette."""
    return {f"--mg-hue-{kind}": colour for kind, colour in (palette or {}).items()}
