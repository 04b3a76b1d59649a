"""Draws what a model costs against one size of its inputs, as areas upon each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.common.amounts import format_bytes, format_flops
from modeldiagrams.html.templating import load_template

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["CostSeries", "render_cost_chart"]

WIDTH, HEIGHT = 460.0, 190.0
"""The area of one chart, in CSS pixels."""
COLOURS = ("#7196db", "#a4338c", "#ce7f3c", "#4daa81", "#7255de", "#bd9100", "#98949b")
_TICKS = 5
_LONGEST = 28
"""Characters of a name that fit beside the charts."""


class CostSeries(NamedTuple):
    """What a part of the model costs at each size."""

    name: str
    flops: Sequence[int]
    activation_bytes: Sequence[int]


class Area(NamedTuple):
    """A series above those below it."""

    points: str
    colour: str


class Tick(NamedTuple):
    """A line of an axis."""

    at: float
    text: str


class Chart(NamedTuple):
    """The chart of one cost."""

    title: str
    areas: Sequence[Area]
    ticks: Sequence[Tick]


def render_cost_chart(
    title: str, axis: tuple[str, str], xs: Sequence[int], series: Sequence[CostSeries], mark: int
) -> str:
    """Render the chart as an SVG file, light and dark.

    Args:
        title: What is drawn.
        axis: The size on the horizontal axis, and its meaning.
        xs: Its values, in order.
        series: At most as many parts of the model as there are `COLOURS`, the lowest first.
        mark: The value to mark.
    """
    across = [WIDTH * x / xs[-1] for x in xs]
    kinds = (
        ("Activations", [one.activation_bytes for one in series], format_bytes, 1024),
        ("FLOPs", [one.flops for one in series], format_flops, 1000),
    )
    return load_template("cost_chart").render(
        title=title,
        words=_describe(axis[0], mark, xs.index(mark), series),
        name=" ".join(axis).rstrip(),
        charts=[_build_chart(*kind, across) for kind in kinds if any(map(any, kind[1]))],
        ticks=[Tick(round(WIDTH * x / xs[-1], 1), f"{x:,}") for x in _find_ticks(xs[-1], 2)],
        mark=round(WIDTH * mark / xs[-1], 1),
        legend=[*reversed([*zip([_shorten(one.name) for one in series], COLOURS, strict=False)])],
        width=WIDTH,
        height=HEIGHT,
    )


def _describe(name: str, mark: int, at: int, series: Sequence[CostSeries]) -> str:
    """Say what the chart shows where it is marked."""
    flops = sum(one.flops[at] for one in series)
    nbytes = sum(one.activation_bytes[at] for one in series)
    parts = [
        f"{one.name} {format_bytes(one.activation_bytes[at])} and {format_flops(one.flops[at])} FLOPs"
        for one in reversed(series)
    ]
    together = f"{format_bytes(nbytes)} of activations and {format_flops(flops)} FLOPs"
    return f"At {name} = {mark:,}: {together}: {', '.join(parts)}."


def _shorten(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _build_chart(
    title: str,
    values: Sequence[Sequence[int]],
    written: Callable[[int], str],
    base: int,
    across: Sequence[float],
) -> Chart:
    most = max(map(sum, zip(*values, strict=True))) or 1
    below, areas = [0] * len(across), []
    for own, colour in zip(values, COLOURS, strict=False):
        above = [a + b for a, b in zip(below, own, strict=True)]
        border = [*zip(across, above, strict=True), *reversed([*zip(across, below, strict=True)])]
        points = " ".join(f"{x:.1f},{HEIGHT * (1 - y / most):.1f}" for x, y in border)
        areas.append(Area(points, colour))
        below = above
    ticks = [Tick(round(HEIGHT * (1 - y / most), 1), written(y)) for y in _find_ticks(most, base)]
    return Chart(title, areas, ticks)


def _find_ticks(most: int, base: int) -> list[int]:
    """Round numbers from 0 to the largest: powers of 2, or 1, 2 and 5 in the largest unit that fits."""
    step = 1.0
    if base == 2:  # noqa: PLR2004
        while most / step > _TICKS:
            step *= 2
    else:
        while step * base <= most:
            step *= base
        factors = (f * 10**k / 10 for k in range(5) for f in (1, 2, 5))
        step = next(step * f for f in factors if most / (step * f) <= _TICKS)
    return [round(step * i) for i in range(int(most / step) + 1)]
