"""Says in words which ways a pass did not take, and which modules it left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.ir.case_texts import join_names, shown_cases
from modeldiagrams.ir.graph import ModuleNode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.ways import Side, WaitsFor, Way

__all__ = [
    "WAITS_FOR",
    "LeftSide",
    "count_uncalled",
    "fold_paths",
    "list_left_sides",
    "list_lines",
    "list_partial",
    "name_uncalled",
    "say_taken",
]

WAITS_FOR: Mapping[WaitsFor, str] = {
    "mode": "In the other mode",
    "input": "For other inputs",
    "configuration": "In another configuration",
    "size": "For other sizes",
    "value": "For other values of tensors",
    "other": "Otherwise",
}
"""What sides wait for, in words, in the order of lists."""
_MOST_NAMES = 6


class LeftSide(NamedTuple):
    """A side that a pass did not take."""

    waits_for: WaitsFor
    source: str
    """``file:line`` of the side."""
    text: str
    """What leads there, in the model's words: ``if mask is not None``."""
    is_own: bool
    """Whether it is in a file of a class of the model, not in code that models share."""


def say_taken(graph: Graph) -> str:
    """Say how many ways were taken: ``Took 15 of 23 ways``, ``prefill and decode took 19 of 23 ways``."""
    shown = shown_cases(graph).values()
    who = f"{join_names([case.name for case in shown])} took" if len(shown) > 1 else "Took"
    sides = [side for way in graph.ways for side in way.sides]
    return f"{who} {sum(_is_taken(graph, side) for side in sides)} of {len(sides)} ways"


def _is_taken(graph: Graph, side: Side) -> bool:
    """Whether a pass took a side of itself, without a forced answer."""
    return side.taken and (not side.cases or any(not graph.cases[number].forced for number in side.cases))


def list_left_sides(graph: Graph) -> list[LeftSide]:
    """List the sides that no pass took: those in the files of the model's classes first, then by what they wait for."""
    own = {source.rpartition(":")[0] for source in _sources(graph) if source}
    found = [
        LeftSide(
            waits_for=way.waits_for,
            source=f"{way.source.rpartition(':')[0]}:{side.line}",
            text=_describe(way, side),
            is_own=way.source.rpartition(":")[0] in own,
        )
        for way in graph.ways
        for side in way.sides
        if not _is_taken(graph, side)
    ]
    order = [*WAITS_FOR]
    return sorted(found, key=lambda left: (not left.is_own, order.index(left.waits_for)))


def _sources(graph: Graph) -> list[str | None]:
    """Where the classes of the model and its modules are defined."""
    return [graph.model.source, *(node.source for node in graph.nodes if isinstance(node, ModuleNode))]


def _describe(way: Way, side: Side) -> str:
    if way.statement == "match":
        return f"case {side.name} of match {way.condition}"
    if way.statement == "for":
        return f"for … in {way.condition}"
    if side.name == "no":
        return f"else of if {way.condition}"
    return f"{'while' if way.statement == 'while' else 'if'} {way.condition}"


def count_uncalled(graph: Graph) -> str:
    """Count the modules that never ran: ``2 of 14 modules``."""
    called = {node.path for node in graph.nodes if isinstance(node, ModuleNode)}
    return f"{len(graph.uncalled)} of {len(called) + len(graph.uncalled)} modules"


def name_uncalled(graph: Graph) -> str:
    """Name the modules that never ran."""
    names = fold_paths([module.path for module in graph.uncalled])
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


def fold_paths(paths: list[str]) -> list[str]:
    """Fold paths that differ in numbers alone: ``layers.*.drop (12)``."""
    folded: dict[str, list[str]] = {}
    for path in paths:
        folded.setdefault(re.sub(r"(?<![^.])\d+(?![^.])", "*", path), []).append(path)
    return [f"{pattern} ({len(same)})" if len(same) > 1 else same[0] for pattern, same in folded.items()]


def list_lines(graph: Graph, most: int = 12) -> list[str]:
    """List what a pass left out, for text: at most so many sides; none if it left out nothing."""
    left = list_left_sides(graph)
    found = [f"{count_uncalled(graph)} never ran: {name_uncalled(graph)}."] if graph.uncalled else []
    if left:
        found.append(f"{say_taken(graph)}; not taken:")
        found += [f"  {WAITS_FOR[side.waits_for].lower()}: {side.text} ({side.source})" for side in left[:most]]
        found += [f"  … and {len(left) - most} more"] if len(left) > most else []
    return found


def list_partial(graph: Graph) -> list[tuple[str, str, str]]:
    """List the sides that only some cases took: what leads there, ``file:line``, and the names of these cases."""
    return [
        (
            _describe(way, side),
            f"{way.source.rpartition(':')[0]}:{side.line}",
            ", ".join(graph.cases[number].name for number in side.cases),
        )
        for way in graph.ways
        for side in way.sides
        if side.cases and graph.cases
    ]
