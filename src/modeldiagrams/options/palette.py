"""Reads and checks a site's colours for kinds of layers, used by style sheets and flat pictures."""

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

__all__ = ["LEAST_CONTRAST", "compute_contrasts", "list_palette_variables", "read_palette"]

LEAST_CONTRAST = 4.5
"""The minimum contrast of text: level AA of the Web Content Accessibility Guidelines."""

_DARKEST = 0.04045
"""sRGB is linear up to this value."""

_COLOUR = re.compile(r"#([0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)


def read_palette(value: Any) -> Any:
    """Read a map from kinds to colours as ``#rrggbb``; the map may be text.

    Raises:
        ModelDiagramsError: for the first unknown kind, invalid colour, or colour that makes text hard to read.
    """
    value = read_map(value)
    return {kind: _check_colour(kind, colour) for kind, colour in value.items()} if isinstance(value, dict) else value


def _check_colour(kind: str, colour: Any) -> str:
    if kind not in get_args(Kind):
        raise ModelDiagramsError(f"expected kinds of layers ({', '.join(get_args(Kind))}), not {kind!r}")
    if not isinstance(colour, str) or not _COLOUR.fullmatch(colour):
        text = f"expected a colour like '#7196db' for {kind}, not {colour!r}"
        raise ModelDiagramsError(f"{text}; in YAML it needs quotes" if colour is None else text)
    digits = colour[1:].lower()
    plain = f"#{digits if len(digits) == len('rrggbb') else ''.join(digit * 2 for digit in digits)}"
    theme, found = min(compute_contrasts(plain).items(), key=lambda one: one[1])
    if found < LEAST_CONTRAST:
        # tints of black are light enough on light pages
        text = f"text on {plain} has a contrast of {found:.2f} on {theme} pages, less than {LEAST_CONTRAST}"
        raise ModelDiagramsError(f"{kind}: {text}; choose a darker colour")
    return plain


def compute_contrasts(colour: str) -> dict[str, float]:
    """Compute the contrast of the faintest text in a box of this colour, by theme."""
    table = msgspec.json.decode(Path(__file__).with_name("palette.json").read_bytes())  # shared with the viewer
    return {
        theme: _compute_contrast(_mix(page["text"], box, table["detail_text"] / 100), box)
        for theme, page in table["themes"].items()
        for box in [_mix(colour, page["background"], table["box_tint"] / 100)]
    }


def _mix(colour: str | list[float], behind: str | list[float], share: float) -> list[float]:
    return [one * share + other * (1 - share) for one, other in zip(_rgb(colour), _rgb(behind), strict=True)]


def _rgb(colour: str | list[float]) -> list[float]:
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] if isinstance(colour, str) else colour


def _compute_contrast(one: list[float], other: list[float]) -> float:
    """Compute the contrast as defined in the guidelines."""
    low, high = sorted((_compute_luminance(one), _compute_luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _compute_luminance(colour: list[float]) -> float:
    linear = [part / 12.92 if part <= _DARKEST else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def list_palette_variables(palette: Mapping[Kind, str] | None) -> dict[str, str]:
    """Return the custom properties for a palette."""
    return {f"--mg-hue-{kind}": colour for kind, colour in (palette or {}).items()}
