"""Makes groups of siblings, and checks whether they can be one box."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

from modeldiagrams.errors import OptionError
from modeldiagrams.ir.graph import InputNode, ModuleNode, OutputNode
from modeldiagrams.overlay.overlay import Group, add_group

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from modeldiagrams.ir.graph import Graph

__all__ = ["make_groups"]

_ODD = re.compile(r"[^\w.-]+")
"""Characters not allowed in ids: pages have lists of ids separated by spaces."""
_MOST_BETWEEN = 8
"""The maximum number of layers without weights that join a group because they lie between its members."""


class _FindNodes(Protocol):
    def __call__(self, option: str, patterns: str, /) -> tuple[str, ...]: ...


def make_groups(
    graph: Graph, wanted: Mapping[str, Sequence[str]], find: _FindNodes
) -> tuple[tuple[Group, ...], list[OptionError]]:
    """Make one group for each container in which siblings match.

    Args:
        graph: The graph.
        wanted: The patterns of members by name of group; the name of another group stands for that group.
        find: Finds the ids that match a pattern, and records an error if there are none.

    Returns:
        The groups, those inside others first, and the problems.
    """
    maker = _GroupMaker(graph, wanted, find)
    for name in wanted:
        maker.make(name)
    return tuple(maker.groups), maker.problems


class _GroupMaker:
    def __init__(self, graph: Graph, wanted: Mapping[str, Sequence[str]], find: _FindNodes) -> None:
        self.graph = graph
        self.groups: list[Group] = []
        self._refused: dict[str, list[str]] = {}
        self._wanted = wanted
        self._find = find
        self._made: dict[str, list[Group]] = {}
        self._parent: dict[str, str | None] = {}
        self._ids: dict[str, int] = defaultdict(int)

    def make(self, name: str) -> list[Group]:
        """Make the groups of one name, after the groups they contain."""
        if name in self._made:
            return self._made[name]
        self._made[name] = []  # a group inside itself has no members
        by_parent: dict[str | None, list[str]] = defaultdict(list)
        for member in self._find_members(name):
            by_parent[self._container_of(member)].append(member)
        if by_parent and all(len(members) < 2 for members in by_parent.values()):  # noqa: PLR2004
            self._refuse(name, "expected two or more siblings, got one in each container; to name it, use `rename`")
            return []
        for parent, members in by_parent.items():
            ordered = sorted(members, key=lambda member: min(self._positions(member)))
            for unit in self._split(ordered):
                if len(unit) > 1:
                    self._add(name, parent, tuple(unit))
                elif len(members) > 1:
                    self._refuse_alone(name, parent, unit[0], ordered)
        return self._made[name]

    def _split(self, members: Sequence[str]) -> list[list[str]]:
        """Split members into runs that no path leaves and enters again, each as long as possible."""
        units: list[list[str]] = []
        for member in members:
            joined = self._extend(units[-1], member) if units else None
            if joined:
                units[-1] = joined
            else:
                units.append([member])
        return units

    def _extend(self, unit: Sequence[str], member: str) -> list[str] | None:
        """Add a member to a unit, with layers without weights in between, which pictures often leave out."""
        found = [*unit, member]
        between = self._find_between(found)
        while between is not None:
            sibling = self._sibling_of(between, self._container_of(member))
            if len(found) > len(unit) + _MOST_BETWEEN or self._has_weights(sibling):
                return None
            found.append(sibling)
            between = self._find_between(found)
        return sorted(found, key=lambda one: min(self._positions(one)))

    def _has_weights(self, name: str) -> bool:
        node = self.graph.by_id[name]
        return bool(node.parameters.total if isinstance(node, ModuleNode) else getattr(node, "weights", True))

    def _refuse_alone(self, name: str, parent: str | None, member: str, members: Sequence[str]) -> None:
        between = self._find_between(members)
        reason = f", because {self._sibling_of(between, parent)} is between them" if between else ""
        text = f"{member} can't be grouped with the others in {parent or self.graph.model.name}{reason}"
        self._refuse(name, f"{text}; add what is between, or leave it out")

    def _find_members(self, name: str) -> Iterable[str]:
        found: dict[str, None] = {}
        for pattern in self._wanted[name]:
            inner = self.make(pattern) if pattern in self._wanted and pattern != name else []
            found |= dict.fromkeys([group.id for group in inner] or self._find("group", pattern))
        # nodes in a group that is a member are not members themselves
        inside = {member for group in self.groups if group.id in found for member in group.nodes}
        ends = (InputNode, OutputNode)
        return [one for one in found if one not in inside and not isinstance(self.graph.by_id.get(one), ends)]

    def _container_of(self, member: str) -> str | None:
        """Return the module call that directly contains a node, a function call or a group."""
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
            self.groups = add_group(self.groups, group)
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
        """One problem for each group that can't be made, at least in some containers."""
        found = []
        for name, (why, *others) in self._refused.items():
            more = f" (and {len(others)} more like this)" if others else ""
            found.append(OptionError("group", f"{name!r}: {why}{more}"))
        return found

    def _find_between(self, members: Sequence[str]) -> str | None:
        """Find a node on a path from one member to another that is not a member."""
        held = {name for member in members for name in self._nodes_in(member)}
        places = [place for member in members for place in self._positions(member)]
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

    def _sibling_of(self, name: str, parent: str | None) -> str:
        """Return the node itself, or the node around it that is directly in a container."""
        around = self.graph.hierarchy[name]
        return name if around in {parent, None} else self._sibling_of(str(around), parent)

    def _positions(self, member: str) -> list[int]:
        return [self.graph.position(name) for name in self._nodes_in(member)]

    def _nodes_in(self, member: str) -> set[str]:
        """Return the ids of all nodes in a module (with the module), a function call or a group."""
        group = next((one for one in self.groups if one.id == member), None)
        if group is not None:
            return {name for inner in group.nodes for name in self._nodes_in(inner)}
        if member in self.graph.functions:
            return {
                name
                for node in self.graph.nodes
                if any(call.id == member for call in self.graph.functions_around(node))
                for name in self._nodes_in(node.id)
            }
        node = self.graph.by_id[member]
        below = self.graph.descendants(node) if isinstance(node, ModuleNode) else ()
        return {member, *(inner.id for inner in below)}
