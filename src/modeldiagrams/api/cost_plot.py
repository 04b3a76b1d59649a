"""Chooses what a chart of costs shows: the size on its axis, and the parts of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from modeldiagrams.errors import OptionError
from modeldiagrams.html.cost_chart import COLOURS, CostSeries, render_cost_chart
from modeldiagrams.ir.chosen_sizes import complete_sizes
from modeldiagrams.ir.growth import degrees_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modeldiagrams.api.cost_rows import CostRow
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.size_costs import SizeCosts
    from modeldiagrams.ir.sizes import Size

    Amounts: TypeAlias = Sequence[tuple[int, int]]
    """FLOPs and bytes of each row at some sizes."""

__all__ = ["plot_costs"]

_POINTS = 48
_FARTHER = 4
"""How many times the graph's own size the axis goes to, if no larger one is chosen."""
_MOST = 0.5
"""Share of the costs from which on a module is shown by what is in it."""


class _Part(NamedTuple):
    """A row, without what other parts are of it."""

    row: int
    without: tuple[int, ...] = ()

    def measure(self, amounts: Amounts) -> tuple[int, int]:
        flops, nbytes = (amounts[self.row][k] - sum(amounts[i][k] for i in self.without) for k in (0, 1))
        return flops, nbytes


def plot_costs(
    graph: Graph, costs: SizeCosts, rows: Sequence[CostRow], given: Mapping[str, int], over: str | None
) -> str:
    """Draw activations and FLOPs against one size as an SVG file.

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
    name, size = _choose_axis(graph, rows[0], sizes, over)
    xs = _list_values(size, sizes[name])
    points = [_measure(costs, rows, complete_sizes(graph, {**given, name: x})) for x in xs]
    parts = _choose_parts(rows, points[xs.index(sizes[name])])
    drawn = [[part.measure(amounts) for amounts in points] for part in parts]
    rest = [
        (whole[0][0] - sum(own[i][0] for own in drawn), whole[0][1] - sum(own[i][1] for own in drawn))
        for i, whole in enumerate(points)
    ]
    labels = [*_name_parts(rows, parts), "other" if parts else graph.model.name]
    others = ", ".join(f"{other} = {number:,}" for other, number in sizes.items() if other != name)
    return render_cost_chart(
        title=f"{graph.model.name}: costs by {name}{f', at {others}' if others else ''}",
        axis=(name, size.meaning),
        xs=xs,
        series=[
            CostSeries(label, [flops for flops, _ in values], [nbytes for _, nbytes in values])
            for label, values in zip(labels, [*drawn, rest], strict=True)
            if any(map(any, values))
        ],
        mark=sizes[name],
    )


def _choose_axis(graph: Graph, model: CostRow, sizes: Mapping[str, int], over: str | None) -> tuple[str, Size]:
    if graph.sizes is None or not sizes:
        notes = " ".join(graph.sizes.notes) if graph.sizes else "the graph was traced without names of sizes"
        raise OptionError("plot", f"{graph.model.name} has no sizes with names to draw costs against: {notes}")
    if over is not None and over not in sizes:
        raise OptionError("over", f"no size is called {over}; there are {', '.join(sizes)}")
    degrees = [degrees_of(cost.expression) for cost in (model.flops, model.activation_bytes) if cost.expression]
    # of equal ones the last: the batch is first, and least interesting
    fastest = max(reversed([*sizes]), key=lambda name: max((degree.get(name, 0) for degree in degrees), default=0))
    return over or fastest, graph.sizes.sizes[over or fastest]


def _list_values(size: Size, chosen: int) -> list[int]:
    """Sizes between the least and the chosen one, or a few times the graph's."""
    least = size.at_least + (size.remainder - size.at_least) % size.multiple_of
    most = chosen if chosen > size.size else _FARTHER * size.size
    steps = max(1, (min(most, size.at_most or most) - least) // size.multiple_of)
    return sorted({chosen, *(least + size.multiple_of * round(steps * i / _POINTS) for i in range(_POINTS + 1))})


def _measure(costs: SizeCosts, rows: Sequence[CostRow], sizes: Mapping[str, int]) -> Amounts:
    measured = (costs.measure(row.item, row.flops, row.activation_bytes, sizes) for row in rows)
    return [(flops.amount or 0, nbytes.amount or 0) for flops, nbytes in measured]


def _choose_parts(rows: Sequence[CostRow], amounts: Amounts) -> list[_Part]:
    """Choose the modules on top, and in place of one that has most of the costs, those in it; the largest of these."""
    inside = _list_inside(rows)

    def share(part: _Part) -> float:
        both = zip(part.measure(amounts), amounts[0], strict=True)
        return sum(own / whole for own, whole in both if whole) / 2

    def is_opened(part: _Part) -> bool:
        return bool(inside[part.row]) and not part.without and (not part.row or share(part) >= _MOST)

    parts = [_Part(0)]
    while part := next(filter(is_opened, parts), None):
        at, below = parts.index(part), inside[part.row]
        own = [_Part(part.row, tuple(below))] if part.row else []
        parts[at : at + 1] = [*(_Part(i) for i in below), *own]
    kept = sorted(filter(share, parts), key=lambda part: -share(part))[: len(COLOURS) - 1]
    return [part for part in parts if part in kept]


def _name_parts(rows: Sequence[CostRow], parts: Sequence[_Part]) -> list[str]:
    """The end of each path that is no number, and that no other part has."""
    paths = [rows[part.row].path.split(".") for part in parts]
    names = []
    for part, path in zip(parts, paths, strict=True):
        endings = (path[i:] for i in reversed(range(len(path))))
        others = [other for other in paths if other != path]
        end = next(
            (end for end in endings if not end[0][0].isdigit() and all(other[-len(end) :] != end for other in others)),
            path,
        )
        names.append(".".join(end) + (" itself" if part.without else ""))
    return names


def _list_inside(rows: Sequence[CostRow]) -> list[list[int]]:
    """The rows directly below each; modules that are repeated together count as those of the row above."""
    inside: list[list[int]] = [[] for _ in rows]
    around: list[int] = []
    for i, row in enumerate(rows):
        del around[row.level :]
        if around and row.class_:
            inside[around[-1]].append(i)
        around.append(i if row.class_ else around[-1])
    return inside
