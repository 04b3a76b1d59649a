"""Groups are disjoint, or one is inside of the other: a picture has one place for each node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from modeldiagrams.overlay.overlay import Group, Node, Overlay

__all__ = ["joined", "renamed", "with_group"]


def with_group(groups: Sequence[Group], new: Group) -> list[Group]:
    """Groups with one more, which takes its place inside of others, or around them.

    Raises:
        ValueError: if it shares some of its members with another, and neither holds all of the other's.
    """
    held = {group.id: _held(group, groups) for group in groups}
    wanted = _held(new, groups)
    for group in groups:
        shared = [name for name in wanted if name in held[group.id]]
        if shared and (
            len(shared) == len(wanted) == len(held[group.id]) or len(shared) < _fewer(wanted, held[group.id])
        ):
            text = f"{shared[0]} is in group {group.name!r} already"
            raise ValueError(f"{text}; expected groups without a common member, or one whole inside of the other")
    around = [group for group in groups if wanted.keys() <= held[group.id].keys()]
    inside = [group for group in groups if held[group.id].keys() < wanted.keys()]
    for group in inside:  # the innermost first
        new = _taking_in(new, group.id, held[group.id])
    if not around:
        return [*groups, new]
    closest, at = around[0], groups.index(around[0])
    outer = _taking_in(closest, new.id, {*wanted, *(group.id for group in inside)})
    return [*groups[:at], new, outer, *groups[at + 1 :]]


def _fewer(one: Mapping[str, None], other: Mapping[str, None]) -> int:
    return min(len(one), len(other))


def _held(group: Group, groups: Iterable[Group]) -> dict[str, None]:
    """The members of a group that are no groups, also those of groups in it."""
    by_id = {one.id: one for one in groups}
    found: dict[str, None] = {}
    for name in group.nodes:
        found |= _held(by_id[name], groups) if name in by_id else {name: None}
    return found


def _taking_in(outer: Group, name: str, members: Iterable[str]) -> Group:
    """A group with another one in place of its members."""
    gone = {*members, name}
    at = next(i for i, node in enumerate(outer.nodes) if node in gone)
    kept = [node for node in outer.nodes if node not in gone]
    return msgspec.structs.replace(outer, nodes=(*kept[:at], name, *kept[at:]))


def joined(groups: Sequence[Group], others: Sequence[Group]) -> tuple[list[Group], dict[str, str]]:
    """Groups with those of another overlay, and the other's ids that had to change: id → new id.

    Raises:
        ValueError: if two of them overlap.
    """
    found, ids = [*groups], dict[str, str]()
    for group in others:
        new = msgspec.structs.replace(group, nodes=tuple(ids.get(name, name) for name in group.nodes))
        same = next((one for one in found if one.id == group.id), None)
        if same is not None and _held(same, found).keys() == _held(new, found).keys():
            found[found.index(same)] = msgspec.structs.replace(same, name=group.name)
            continue
        if same is not None:
            ids[group.id] = _free(group.id, {one.id for one in (*found, *others)})
        found = with_group(found, msgspec.structs.replace(new, id=ids.get(group.id, group.id)))
    return found, ids


def _free(name: str, taken: set[str]) -> str:
    stem, number = name.partition("[]")[0] + "[]", 2
    while f"{stem}#{number}" in taken:
        number += 1
    return f"{stem}#{number}"


def renamed(overlay: Overlay, ids: Mapping[str, str]) -> Overlay:
    """What an overlay says, with other ids."""

    def new(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(ids.get(name, name) for name in names)

    nodes: dict[str, Node] = {
        ids.get(name, name): msgspec.structs.replace(node, order=new(node.order))
        for name, node in overlay.nodes.items()
    }
    notes = tuple(msgspec.structs.replace(note, nodes=new(note.nodes)) for note in overlay.notes)
    return msgspec.structs.replace(overlay, nodes=nodes, notes=notes)
