"""Unites what several passes say about the ways through a model's code."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from modeldiagrams.ir.ways import QuietSide, Side, UncalledModule, WaitsFor, Way

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from modeldiagrams.ir.graph import Graph

__all__ = ["drop_sides", "unite_uncalled", "unite_ways"]


def unite_ways(passes: Mapping[int, Sequence[Way]]) -> tuple[Way, ...]:
    """The ways that any pass reached, by file and line. A side is taken if any pass took it.

    Args:
        passes: Number of a case → the ways in its pass.
    """
    found: dict[tuple[str, str, str, int], dict[int, Way]] = {}
    for number, ways in passes.items():
        times: Counter[tuple[str, str, str]] = Counter()
        for way in ways:
            place = (way.source, way.statement, way.condition)
            times[place] += 1  # one line may have the same condition twice
            found.setdefault((*place, times[place]), {})[number] = way
    return tuple(sorted(map(_unite, found.values()), key=_place))


def drop_sides(graph: Graph, took: Collection[QuietSide]) -> Graph:
    """Leave out sides that a pass did not take, but that another one took without running tensors there."""
    kept = [
        [side for side in way.sides if side.taken or (way.source, way.condition, side.name) not in took]
        for way in graph.ways
    ]
    ways = [
        msgspec.structs.replace(way, sides=tuple(sides)) for way, sides in zip(graph.ways, kept, strict=True) if sides
    ]
    return msgspec.structs.replace(graph, ways=tuple(ways))


def _unite(ways: Mapping[int, Way]) -> Way:
    took: dict[tuple[int, bool, str], list[int]] = {}
    for number, way in ways.items():
        for side in way.sides:
            numbers = took.setdefault((side.line, side.name == "no", side.name), [])
            numbers += [number] if side.taken else []
    sides = [
        Side(name=name, line=line, taken=bool(numbers), cases=() if len(numbers) == len(ways) else tuple(numbers))
        for (line, _, name), numbers in sorted(took.items())
    ]
    first = min(ways.values(), key=lambda way: get_args(WaitsFor).index(way.waits_for))
    classes = {name for way in ways.values() for name in way.classes}
    return msgspec.structs.replace(first, classes=tuple(sorted(classes)), sides=tuple(sides))


def _place(way: Way) -> tuple[Any, ...]:
    file, _, line = way.source.rpartition(":")
    return file, int(line), way.statement, way.condition


def unite_uncalled(passes: Sequence[Sequence[UncalledModule]]) -> tuple[UncalledModule, ...]:
    """The modules that no pass called."""
    candidates = {module.path: module for modules in passes for module in modules}
    paths = [{module.path for module in modules} for modules in passes]

    def is_uncalled(path: str) -> bool:
        around = {path, *(path[:i] for i, sign in enumerate(path) if sign == ".")}
        return all(around & uncalled for uncalled in paths)

    found = [module for path, module in candidates.items() if is_uncalled(path)]
    return tuple(module for module in found if not any(module.path.startswith(f"{other.path}.") for other in found))
