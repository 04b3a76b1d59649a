"""Numbers that an author gives to nodes, which the viewer shows as a lens; `read_numbers` says where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from modeldiagrams.ir.graph import ModuleNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from modeldiagrams.ir.graph import Graph

__all__ = ["GivenNumbers", "NumberMatcher", "Numbers", "Scale"]

Scale: TypeAlias = Literal["linear", "log", "diverging"]

_EXACT, _PATH, _NAME, _PATTERN = 3, 2, 1, 0
"""How exactly an entry names a node."""
_MOST_UNMATCHED = 20


class GivenNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers by pattern, as an author wrote them."""

    name: str
    unit: str = ""
    format: str = ""
    scale: Scale = "linear"
    values: dict[str, float | None]
    """None for NaN and infinities, which no scale can show."""


class Numbers(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Numbers of the nodes of one graph: a lens of the viewer."""

    name: str
    unit: str = ""
    format: str = ""
    """How to write them, much as in Python: ``.2f``, ``.1%``, ``+.3g``; by default three digits."""
    scale: Scale = "linear"
    values: dict[str, float]
    """By id of a node, function call or group."""
    named: int = 0
    """Nodes of the kinds that have numbers, with a number of their own or inside them."""
    unnamed: int = 0
    """Nodes of these kinds without one."""
    missing: int = 0
    """Entries that are NaN or infinite."""
    unmatched: tuple[str, ...] = ()
    """The first patterns that no node has."""
    unmatched_count: int = 0


class NumberMatcher:
    """Finds the nodes that numbers are for.

    Entries match what `Graph.matching` does. If several match a node, the most exact counts: its id, then its path,
    then a name without `*` and `?`, such as its class, then other patterns; of equally exact ones, the last.
    """

    def __init__(self, graph: Graph, groups: Mapping[str, Sequence[str]]) -> None:
        """Take a graph.

        Args:
            graph: The graph.
            groups: Ids of the author's groups by name.
        """
        self._graph = graph
        self._groups = groups
        self._paths = {node.id: node.path for node in graph.nodes if isinstance(node, ModuleNode)}
        # `named_modules` lists the model itself, and modules that only hold others
        self._containers = {part for path in self._paths.values() for part in _list_outer(path)}

    def match(self, given: GivenNumbers) -> Numbers:
        """Find the nodes of numbers."""
        values: dict[str, float | None] = {}
        ranks: dict[str, int] = {}
        unmatched = []
        for pattern, value in given.values.items():
            found = self._find(pattern)
            if not found and pattern not in self._containers:
                unmatched.append(pattern)
            for name, rank in found:
                if rank >= ranks.get(name, _PATTERN):
                    ranks[name], values[name] = rank, value
        kept = {name: value for name, value in values.items() if value is not None}
        named, unnamed = self._count(kept)
        return Numbers(
            name=given.name,
            unit=given.unit,
            format=given.format,
            scale=given.scale,
            values=kept,
            named=named,
            unnamed=unnamed,
            missing=sum(value is None for value in given.values.values()),
            unmatched=tuple(unmatched[:_MOST_UNMATCHED]),
            unmatched_count=len(unmatched),
        )

    def _find(self, patterns: str) -> list[tuple[str, int]]:
        """Find the ids that match a pattern, or else any of several with commas, and how exactly each does."""
        found = self._match(patterns)
        parts = [] if found else [part.strip() for part in patterns.split(",")]
        return found or [pair for part in parts for pair in self._match(part)]

    def _match(self, pattern: str) -> list[tuple[str, int]]:
        if not pattern:
            return []
        if pattern in self._groups:
            return [(name, _NAME) for name in self._groups[pattern]]
        return [(name, self._rank(pattern, name)) for name in self._graph.matching(pattern)]

    def _rank(self, pattern: str, name: str) -> int:
        if "*" in pattern or "?" in pattern:
            return _PATTERN
        return _EXACT if pattern == name else _PATH if pattern == self._paths.get(name) else _NAME

    def _count(self, values: Mapping[str, float]) -> tuple[int, int]:
        """Count the nodes with and without a number, of the kinds that have any; modules have those inside them."""
        with_number = {*values}
        for name in values:
            at = self._graph.hierarchy.get(name)
            while at is not None and at not in with_number:
                with_number.add(at)
                at = self._graph.hierarchy[at]
        kinds = {type(self._graph.by_id[name]) for name in values if name in self._graph.by_id} or {ModuleNode}
        ids = [node.id for node in self._graph.nodes if type(node) in kinds]
        named = sum(name in with_number for name in ids)
        return named, len(ids) - named


def _list_outer(path: str) -> Iterator[str]:
    """Yield the paths of the modules around one, from the model's, which is empty."""
    parts = path.split(".")
    return (".".join(parts[:count]) for count in range(len(parts)))
