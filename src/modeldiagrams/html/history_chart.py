"""Renders how a model changed from release to release: a small chart and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from modeldiagrams.engine.compare.history import TITLES
from modeldiagrams.html.templating import load_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modeldiagrams.engine.compare.history import History

__all__ = ["Bar", "Panel", "build_panels", "render_history", "render_history_chart"]

WIDTH, HEIGHT = 310.0, 70.0
"""The area for bars in a panel, in CSS pixels; numbers are above it, versions below."""
_CHARACTER = 6.0
"""The width of a character at 10 px, generously."""
_WIDEST = 40.0


class Bar(NamedTuple):
    """One version."""

    middle: float
    height: float
    is_new: bool
    """Whether the number differs from the previous one."""
    version: str
    number: str
    """Version and number are empty if there is no room for them."""


class Panel(NamedTuple):
    """The chart of one number in all versions."""

    title: str
    bars: tuple[Bar, ...]
    width: float
    """The width of a bar."""


def render_history(history: History) -> str:
    """Render chart and table."""
    rows = [(release.cells(), release.changes()) for release in history.releases]
    return load_template("history").render(chart=render_history_chart(history), titles=TITLES, rows=rows)


def render_history_chart(history: History) -> Markup:
    """Render the numbers of all versions as bars from zero; "" for a single version."""
    html = load_template("history_chart").render(
        panels=build_panels(history), width=WIDTH, height=HEIGHT, model=history.model
    )
    return Markup(html)  # noqa: S704  rendered with autoescape


def build_panels(history: History) -> list[Panel]:
    """Build one panel for each number that is known for at least two versions."""
    releases = history.releases
    numbers = {
        "Parameters": ([release.parameters for release in releases], 2),
        "FLOPs": ([release.flops for release in releases], 3),
    }
    return [
        _build_panel(title, values, [(release.version, release.cells()[cell]) for release in releases])
        for title, (values, cell) in numbers.items()
        if sum(value is not None for value in values) > 1
    ]


def _build_panel(title: str, values: Sequence[int | None], texts: Sequence[tuple[str, str]]) -> Panel:
    slot = WIDTH / len(values)
    middles = [slot * (i + 0.5) for i in range(len(values))]
    highest = max(value or 0 for value in values) or 1
    before = [None, *values]
    is_new = [value is not None and value != before[i] for i, value in enumerate(values)]
    versions = _select_fitting(
        [(middle, text[0]) for middle, text in zip(middles, texts, strict=True)], [True] * len(values)
    )
    shown = _select_fitting([(middle, text[1]) for middle, text in zip(middles, texts, strict=True)], is_new)
    bars = (
        Bar(round(middle, 1), round(HEIGHT * (value or 0) / highest, 1), new, version, number)
        for middle, value, new, version, number in zip(middles, values, is_new, versions, shown, strict=True)
    )
    return Panel(title, tuple(bars), round(min(slot * 0.7, _WIDEST), 1))


def _select_fitting(texts: Sequence[tuple[float, str]], wanted: Iterable[bool]) -> list[str]:
    """Select texts that fit side by side, from the last to the first, because readers look for the current version."""
    kept, limit = [], WIDTH + _WIDEST
    for (middle, text), is_wanted in reversed(list(zip(texts, wanted, strict=True))):
        half = len(text) * _CHARACTER / 2
        fits = is_wanted and middle + half <= limit
        kept.append(text if fits else "")
        limit = middle - half - _CHARACTER if fits else limit
    return kept[::-1]
