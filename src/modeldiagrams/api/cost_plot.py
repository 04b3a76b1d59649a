"""Draws what a model costs against one size of its inputs, as areas upon each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from modeldiagrams.common.amounts import format_bytes, format_flops
from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.html.templating import load_template
from modeldiagrams.ir.chosen_sizes import complete_sizes
from modeldiagrams.ir.growth import degrees_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from modeldiagrams.api.cost_rows import CostRow
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.size_costs import SizeCosts
    from modeldiagrams.ir.sizes import Size

__all__ = ["plot_costs"]

WIDTH, HEIGHT = 460.0, 190.0
"""The area of one chart, in CSS pixels."""
_COLOURS = ("#7196db", "#a4338c", "#ce7f3c", "#4daa81", "#7255de", "#bd9100", "#98949b")
_POINTS = 48
_FARTHER = 4
"""How many times the graph's own size the axis goes to, if no larger one is chosen."""
_LONGEST = 28
"""Characters of a name that fit beside the charts."""

Amounts: TypeAlias = list[int]
"""FLOPs and bytes."""


def plot_costs(
    graph: Graph, costs: SizeCosts, rows: Sequence[CostRow], given: Mapping[str, int], over: str | None
) -> str:
    """Draw activations and FLOPs against one size as an SVG file, light and dark.

    Args:
        graph: The graph.
        costs: Its costs.
        rows: Its modules, the model first.
        given: The chosen sizes.
        over: The one that varies; None is that with which costs grow fastest.

    Raises:
        OptionError: for a size that doesn't exist, or a graph without any.
    """
    sizes = complete_sizes(graph, given)
    name, size = _choose_axis(graph, costs, sizes, over)
    taken = {x: _try_sizes(graph, {**given, name: x}) for x in _list_values(size, sizes[name])}
    xs = [x for x in taken if taken[x]]
    rows = [row for row in rows if row.class_]
    points = [_measure_own(costs, rows, taken[x]) for x in xs]
    at = xs.index(sizes[name])
    shown = _choose_rows(points[at])
    labels = [_write_label(graph, rows, i) for i in shown]
    areas = [[point[i] for point in points] for i in shown]
    other = [_add_up(own for i, own in enumerate(point) if i not in shown) for point in points]
    if any(map(any, other)):
        labels, areas = [*labels, "other"], [*areas, other]
    others = ", ".join(f"{other} = {number:,}" for other, number in sizes.items() if other != name)
    kinds = (("Activations", 1, format_bytes, 2), ("FLOPs", 0, format_flops, 10))
    whole = [_add_up(point) for point in points]
    totals = f"{format_bytes(whole[at][1])} of activations and {format_flops(whole[at][0])} FLOPs"
    return load_template("cost_chart").render(
        title=f"{graph.model.name}: costs by {name}{others and f', at {others}'}",
        words=f"At {name} = {xs[at]:,}: {totals}; from the lowest area: {', '.join(labels)}.",
        name=f"{name} {size.meaning}".rstrip(),
        charts=[
            _build_chart(title, [[own[kind] for own in area] for area in areas], xs, written, base)
            for title, kind, written, base in kinds
            if any(amounts[kind] for amounts in whole)
        ],
        ticks=[(round(WIDTH * x / xs[-1], 1), f"{x:,}") for x in _find_ticks(xs[-1], 2)],
        mark=round(WIDTH * xs[at] / xs[-1], 1),
        legend=[*reversed([*zip(labels, _COLOURS, strict=False)])],
        width=WIDTH,
        height=HEIGHT,
    )


def _choose_axis(graph: Graph, costs: SizeCosts, sizes: Mapping[str, int], over: str | None) -> tuple[str, Size]:
    if not sizes or graph.sizes is None:
        raise OptionError("plot", f"{graph.model.name} has no sizes with names")
    if over is not None and over not in sizes:
        raise OptionError("over", f"no size is called {over}; there are {', '.join(sizes)}")
    totals = (costs.flops[None].expression, costs.activation_bytes[None].expression)
    degrees = [degrees_of(total) for total in totals if total]
    # of equal ones the last: the batch is first, and least interesting
    fastest = max(reversed([*sizes]), key=lambda name: max((degree.get(name, 0) for degree in degrees), default=0))
    return over or fastest, graph.sizes.sizes[over or fastest]


def _list_values(size: Size, chosen: int) -> list[int]:
    """Sizes between the least and the chosen one, or a few times the graph's."""
    least = size.at_least + (size.remainder - size.at_least) % size.multiple_of
    most = chosen if chosen > size.size else _FARTHER * size.size
    steps = max(1, (min(most, size.at_most or most) - least) // size.multiple_of)
    return sorted({chosen, *(least + size.multiple_of * round(steps * i / _POINTS) for i in range(_POINTS + 1))})


def _try_sizes(graph: Graph, given: Mapping[str, int]) -> dict[str, int]:
    """All sizes; empty if these don't go together."""
    try:
        return complete_sizes(graph, given)
    except ModelDiagramsError:
        return {}


def _measure_own(costs: SizeCosts, rows: Sequence[CostRow], sizes: Mapping[str, int]) -> list[Amounts]:
    """What each row costs without the rows below it."""
    found: list[Amounts] = []
    around: list[int] = []
    for i, row in enumerate(rows):
        found.append([cost.amount or 0 for cost in costs.measure(row.item, sizes, row.calls)])
        while around and rows[around[-1]].level >= row.level:
            around.pop()
        if around:
            found[around[-1]] = [a - b for a, b in zip(found[around[-1]], found[i], strict=True)]
        around.append(i)
    return found


def _choose_rows(own: list[Amounts]) -> list[int]:
    """The rows with the largest shares of both costs."""
    whole = _add_up(own)
    shares = [sum(a / b for a, b in zip(one, whole, strict=True) if b) for one in own]
    largest = sorted((i for i, share in enumerate(shares) if share), key=lambda i: -shares[i])
    return sorted(largest[: len(_COLOURS) - 1])


def _write_label(graph: Graph, rows: Sequence[CostRow], i: int) -> str:
    """The path, or its end; a row with others below it is drawn without them."""
    has_inside = rows[i + 1 : i + 2] and rows[i + 1].level > rows[i].level
    label = (rows[i].path or graph.model.name) + (" itself" if has_inside else "")
    return label if len(label) <= _LONGEST else f"…{label[1 - _LONGEST :]}"


def _add_up(amounts: Iterable[Amounts]) -> Amounts:
    return [sum(one) for one in zip(*amounts, strict=True)] or [0, 0]


def _build_chart(
    title: str, areas: list[list[int]], xs: Sequence[int], written: Callable[[int], str], base: int
) -> tuple[str, Any, Any]:
    """Title, areas with their colours, and lines with their amounts."""
    most = max(map(sum, zip(*areas, strict=True))) or 1
    below, drawn = [0] * len(xs), []
    for own, colour in zip(areas, _COLOURS, strict=False):
        above = [a + b for a, b in zip(below, own, strict=True)]
        border = [*zip(xs, above, strict=True), *reversed([*zip(xs, below, strict=True)])]
        points = " ".join(f"{WIDTH * x / xs[-1]:.1f},{HEIGHT * (1 - y / most):.1f}" for x, y in border)
        drawn.append((points, colour))
        below = above
    return title, drawn, [(round(HEIGHT * (1 - y / most), 1), written(y)) for y in _find_ticks(most, base)]


def _find_ticks(most: int, base: int) -> range:
    """Round numbers from 0 to the largest: multiples of a power of 2 or of 10."""
    step = 2 ** max(0, most.bit_length() - 3) if base == 2 else 10 ** (len(str(most)) - 1)  # noqa: PLR2004
    return range(0, most + 1, step)
