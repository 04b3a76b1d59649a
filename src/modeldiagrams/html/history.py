"""How a model changed from release to release, for pages: a small chart, and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from modeldiagrams.engine.compare.history import TITLES
from modeldiagrams.html.templating import template

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modeldiagrams.engine.compare.history import History

__all__ = ["Bar", "Panel", "history_chart", "history_html", "panels"]

WIDTH, HEIGHT = 310.0, 70.0
"""Of a panel's bars, in CSS pixels; numbers stand above them, versions below."""
_CHARACTER = 6.0
"""Width of one at 10 px, rather too much."""
_WIDEST = 40.0


class Bar(NamedTuple):
    """One version."""

    middle: float
    height: float
    is_new: bool
    """Whether the number is another than before."""
    version: str
    number: str
    """Either is "" where there is no room to print it."""


class Panel(NamedTuple):
    """One number in all versions."""

    title: str
    bars: tuple[Bar, ...]
    width: float
    """Of a bar."""


def history_html(history: History) -> str:
    """Chart and table."""
    rows = [(release.cells(), release.changes()) for release in history.releases]
    return template("history").render(chart=history_chart(history), titles=TITLES, rows=rows)


def history_chart(history: History) -> Markup:
    """The numbers of all versions as bars from zero; "" for a single version."""
    html = template("history_chart").render(panels=panels(history), width=WIDTH, height=HEIGHT, model=history.model)
    return Markup(html)  # noqa: S704  rendered with autoescape


def panels(history: History) -> list[Panel]:
    """What the chart shows: numbers that are known for at least two versions."""
    releases = history.releases
    numbers = {
        "Parameters": ([release.parameters for release in releases], 2),
        "FLOPs": ([release.flops for release in releases], 3),
    }
    return [
        _panel(title, values, [(release.version, release.cells()[cell]) for release in releases])
        for title, (values, cell) in numbers.items()
        if sum(value is not None for value in values) > 1
    ]


def _panel(title: str, values: Sequence[int | None], texts: Sequence[tuple[str, str]]) -> Panel:
    slot = WIDTH / len(values)
    middles = [slot * (i + 0.5) for i in range(len(values))]
    highest = max(value or 0 for value in values) or 1
    before = [None, *values]
    is_new = [value is not None and value != before[i] for i, value in enumerate(values)]
    versions = _fitting([(middle, text[0]) for middle, text in zip(middles, texts, strict=True)], [True] * len(values))
    shown = _fitting([(middle, text[1]) for middle, text in zip(middles, texts, strict=True)], is_new)
    bars = (
        Bar(round(middle, 1), round(HEIGHT * (value or 0) / highest, 1), new, version, number)
        for middle, value, new, version, number in zip(middles, values, is_new, versions, shown, strict=True)
    )
    return Panel(title, tuple(bars), round(min(slot * 0.7, _WIDEST), 1))


def _fitting(texts: Sequence[tuple[float, str]], wanted: Iterable[bool]) -> list[str]:
    """The texts that fit side by side, the last first: readers look for what is current."""
    kept, limit = [], WIDTH + _WIDEST
    for (middle, text), is_wanted in reversed(list(zip(texts, wanted, strict=True))):
        half = len(text) * _CHARACTER / 2
        fits = is_wanted and middle + half <= limit
        kept.append(text if fits else "")
        limit = middle - half - _CHARACTER if fits else limit
    return kept[::-1]
