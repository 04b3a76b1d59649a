"""Siblings under one name: which nodes are in a group, and whether they can be one box."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

from modeldiagrams.errors import OptionError
from modeldiagrams.ir.graph import InputNode, ModuleNode, OutputNode
from modeldiagrams.overlay.overlay import Group, with_group

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from modeldiagrams.ir.graph import Graph

__all__ = ["grouped"]


_ODD = re.compile(r"[^\w.-]+")
"""Characters that ids don't have: pages list ids with spaces between."""


_MOST_BETWEEN = 8
"""Most layers without weights that join a group because they are between its members."""


class _Find(Protocol):
    def __call__(self, option: str, patterns: str, /) -> tuple[str, ...]: ...


def grouped(
    graph: Graph, wanted: Mapping[str, Sequence[str]], find: _Find
) -> tuple[tuple[Group, ...], list[OptionError]]:
    """Make groups: one for each container in which siblings match.

    Args:
        graph: The graph.
        wanted: Name of a group → patterns of its members; the name of another group stands for that.
        find: Finds the ids of a pattern, and keeps an error where there are none.

    Returns:
        The groups, those inside of others first, and what is wrong with the others.
    """
    making = _Making(graph, wanted, find)
    for name in wanted:
        making.make(name)
    return tuple(making.groups), making.problems


class _Making:
    def __init__(self, graph: Graph, wanted: Mapping[str, Sequence[str]], find: _Find) -> None:
        self.graph = graph
        self.groups: list[Group] = []
        self._refused: dict[str, list[str]] = {}
        self._wanted = wanted
        self._find = find
        self._made: dict[str, list[Group]] = {}
        self._parent: dict[str, str | None] = {}
        self._ids: dict[str, int] = defaultdict(int)

    def make(self, name: str) -> list[Group]:
        """The groups of one name; those that it holds are made before."""
        if name in self._made:
            return self._made[name]
        self._made[name] = []  # a group inside of itself has no members
        by_parent: dict[str | None, list[str]] = defaultdict(list)
        for member in self._members(name):
            by_parent[self._around(member)].append(member)
        if by_parent and all(len(members) < 2 for members in by_parent.values()):  # noqa: PLR2004
            self._refuse(name, "expected two or more siblings, got one in each container; to name it, use `rename`")
            return []
        for parent, members in by_parent.items():
            ordered = sorted(members, key=lambda member: min(self._order(member)))
            for unit in self._units(ordered):
                if len(unit) > 1:
                    self._add(name, parent, tuple(unit))
                elif len(members) > 1:
                    self._refuse_alone(name, parent, unit[0], ordered)
        return self._made[name]

    def _units(self, members: Sequence[str]) -> list[list[str]]:
        """Members in stretches that no way leaves and enters again, each as long as possible."""
        units: list[list[str]] = []
        for member in members:
            joined = self._joined(units[-1], member) if units else None
            if joined:
                units[-1] = joined
            else:
                units.append([member])
        return units

    def _joined(self, unit: Sequence[str], member: str) -> list[str] | None:
        """A unit with one more member, and with layers without weights between, which pictures often leave out."""
        found = [*unit, member]
        between = self._between(found)
        while between is not None:
            beside = self._beside(between, self._around(member))
            if len(found) > len(unit) + _MOST_BETWEEN or self._has_weights(beside):
                return None
            found.append(beside)
            between = self._between(found)
        return sorted(found, key=lambda one: min(self._order(one)))

    def _has_weights(self, name: str) -> bool:
        node = self.graph.by_id[name]
        return bool(node.parameters.total if isinstance(node, ModuleNode) else getattr(node, "weights", True))

    def _refuse_alone(self, name: str, parent: str | None, member: str, members: Sequence[str]) -> None:
        between = self._between(members)
        way = f", because {self._beside(between, parent)} is between them" if between else ""
        where = f"{member} can't be grouped with the others in {parent or self.graph.model.name}{way}"
        self._refuse(name, f"{where}; add what is between, or leave it out")

    def _members(self, name: str) -> Iterable[str]:
        found: dict[str, None] = {}
        for pattern in self._wanted[name]:
            inner = self.make(pattern) if pattern in self._wanted and pattern != name else []
            found |= dict.fromkeys([group.id for group in inner] or self._find("group", pattern))
        # what is in a group that is a member is no member itself
        inside = {member for group in self.groups if group.id in found for member in group.nodes}
        ends = (InputNode, OutputNode)
        return [one for one in found if one not in inside and not isinstance(self.graph.by_id.get(one), ends)]

    def _around(self, member: str) -> str | None:
        """The module call directly around a node, a function call or a group."""
        if member in self._parent:
            return self._parent[member]
        at: str | None = member
        while at in self.graph.functions:
            at = self.graph.functions[at].parent
            if at not in self.graph.functions:
                return at
        return self.graph.hierarchy[member]

    def _add(self, name: str, parent: str | None, nodes: tuple[str, ...]) -> None:
        stem = f"{parent or ''}/{_ODD.sub('_', name)}[]"
        number = self._ids[stem] + 1
        group = Group(id=stem if number == 1 else f"{stem}#{number}", name=name, nodes=nodes)
        try:
            self.groups = with_group(self.groups, group)
        except ValueError as error:
            self._refuse(name, str(error))
            return
        self._ids[stem] = number
        self._parent[group.id] = parent
        self._made[name].append(group)

    def _refuse(self, name: str, why: str) -> None:
        self._refused.setdefault(name, []).append(why)

    @property
    def problems(self) -> list[OptionError]:
        """One for each group that can't be made, or not everywhere."""
        found = []
        for name, (why, *others) in self._refused.items():
            more = f" (and {len(others)} more like this)" if others else ""
            found.append(OptionError("group", f"{name!r}: {why}{more}"))
        return found

    # -- what is between members --------------------------------------------------------------------------------------

    def _between(self, members: Sequence[str]) -> str | None:
        """A node that is no member, on a path from one member to another."""
        held = {name for member in members for name in self._inside(member)}
        places = [place for member in members for place in self._order(member)]
        names = [node.id for node in self.graph.nodes]
        stretch = names[min(places) : max(places) + 1]
        reached: dict[str, str] = {}
        for name in stretch:
            if name not in held and name not in reached:
                continue
            for edge in self.graph.adjacency.get(name, ()):
                if name in reached and edge.to in held:
                    return name
                if edge.to not in held:
                    reached.setdefault(edge.to, name)
        return None

    def _beside(self, name: str, parent: str | None) -> str:
        """The node directly in a container that a node is, or is inside of."""
        around = self.graph.hierarchy[name]
        return name if around in {parent, None} else self._beside(str(around), parent)

    def _order(self, member: str) -> list[int]:
        return [self.graph.position(name) for name in self._inside(member)]

    def _inside(self, member: str) -> set[str]:
        """Ids of nodes: a module with all that is in it, what a function call or a group holds."""
        group = next((one for one in self.groups if one.id == member), None)
        if group is not None:
            return {name for inner in group.nodes for name in self._inside(inner)}
        if member in self.graph.functions:
            return {
                name
                for node in self.graph.nodes
                if any(call.id == member for call in self.graph.functions_around(node))
                for name in self._inside(node.id)
            }
        node = self.graph.by_id[member]
        below = self.graph.descendants(node) if isinstance(node, ModuleNode) else ()
        return {member, *(inner.id for inner in below)}
