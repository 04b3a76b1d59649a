"""The overlay: an author's annotations of the nodes of one graph.

Like the graph, an overlay is plain frozen data with its own schema and version. It refers to nodes by id: `resolve`
turns patterns into ids when it makes an overlay. The viewer applies it (`viewer/src/graph/overlay.ts`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import msgspec

from modeldiagrams.ir.documents import encode, make_schema, read_document, write_document
from modeldiagrams.ir.kinds import Kind  # noqa: TC001  (msgspec reads the annotation)
from modeldiagrams.ir.structure import structural_digest
from modeldiagrams.overlay.numbers import Numbers  # noqa: TC001  (the same)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from modeldiagrams.ir.graph import Graph

__all__ = ["FORMAT", "VERSION", "Alignment", "Arrangement", "Group", "Image", "Node", "Note", "Overlay", "add_group"]

FORMAT: Literal["modeldiagrams-overlay"] = "modeldiagrams-overlay"
VERSION = "1.1"

Arrangement: TypeAlias = Literal["row", "column", "grid"]
Alignment: TypeAlias = Literal["start", "center", "end"]


class _OverlayStruct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Immutable data whose JSON omits defaults."""


class Node(_OverlayStruct, frozen=True, kw_only=True):
    """The annotations of one node, function call or group."""

    rename: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    """The name shown in the picture."""
    hide: bool = False
    """Whether the picture leaves it out, with everything inside; the nodes it connects stay connected."""
    kind: Kind | None = None
    """The family that determines its colour."""
    highlight: bool = False
    fade: bool = False
    arrange: Arrangement | None = None
    """For a container: the arrangement of its children."""
    align_items: Alignment | None = None
    """For a container: which edges of its children are aligned."""
    order: tuple[str, ...] = ()
    """For a container: the ids of its children, in order."""


class Group(_OverlayStruct, frozen=True, kw_only=True):
    """Several siblings, shown as one container that opens and closes."""

    id: str
    """``encoder.layers.0/Add_Norm[]``: the parent's id, a slash, the name without special characters, and ``#n``."""
    name: str
    nodes: tuple[str, ...]
    """The ids of its children: nodes, function calls and other groups, in execution order."""


class Note(_OverlayStruct, frozen=True, kw_only=True):
    """A remark on some nodes; its number is its position, starting at 1."""

    text: str
    """In the markup of its page; plain text outside pages."""
    nodes: tuple[str, ...] = ()
    """Empty if its pattern matches nothing; the note is shown below the picture anyway."""


_DATA = re.compile(r"data:image/(png|jpeg|svg\+xml);base64,[A-Za-z0-9+/]+=*")


class Image(_OverlayStruct, frozen=True, kw_only=True):
    """A picture at some nodes; its number is its position, starting at 1."""

    source: str
    """A ``data:`` URL of a PNG, JPEG or SVG file, so that an overlay depends on no other file."""
    alt: str
    """Text for readers who can't see it."""
    width: float
    """In CSS pixels."""
    height: float
    nodes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _DATA.fullmatch(self.source):
            raise ValueError("expected `source` to be a data: URL in base64 of a PNG, JPEG or SVG file")
        if not (self.width >= 1 and self.height >= 1):
            raise ValueError("expected `width` and `height` of at least 1 px")


class Overlay(_OverlayStruct, frozen=True, kw_only=True):
    """An author's annotations of the nodes of one graph."""

    format: Literal["modeldiagrams-overlay"] = FORMAT
    version: str = VERSION
    graph: str
    """The structural digest of the graph."""
    nodes: dict[str, Node] = {}
    """Annotations by id. The id of the model itself is ``""``."""
    groups: tuple[Group, ...] = ()
    """Groups inside another group precede it."""
    notes: tuple[Note, ...] = ()
    images: tuple[Image, ...] = ()
    numbers: tuple[Numbers, ...] = ()
    """Lenses, in the order of the menu; files show the first."""

    @property
    def group_names(self) -> list[str]:
        """Names and ids of all groups."""
        return [name for group in self.groups for name in (group.name, group.id)]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Overlay:
        """Read an overlay file.

        Raises:
            GraphError: if the file can't be read or is not an overlay, with file name and JSON path.
        """
        return read_document(path, cls, FORMAT, VERSION)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an overlay file with one value per line, atomically."""
        write_document(path, self.to_json(indent=1) + b"\n")

    def to_json(self, indent: int = 0) -> bytes:
        """Encode the overlay as JSON. Equal overlays give equal bytes."""
        whole = {"format": self.format, "version": self.version, **msgspec.to_builtins(self)}
        compact = encode(whole)
        return msgspec.json.format(compact, indent=indent) if indent else compact

    def without_texts(self) -> Overlay:
        """Return a copy with empty notes, for pages that contain the texts elsewhere."""
        notes = tuple(msgspec.structs.replace(note, text="") for note in self.notes)
        return msgspec.structs.replace(self, notes=notes)

    def for_pages(self) -> bytes:
        """Encode as JSON without the texts of notes and the images, which pages contain elsewhere."""
        data = msgspec.to_builtins(self.without_texts())
        for image in data.get("images", ()):
            image["source"] = ""
        return encode(data)

    def merge(self, other: Overlay) -> Overlay:
        """Merge two overlays. If both annotate a node, values of the other win; its notes come last.

        Groups of both are kept: a second group of the same name gets an id of its own, and one that lies entirely
        inside another becomes part of it.

        Raises:
            ValueError: if the other is for another graph, or two groups overlap.
        """
        if other.graph != self.graph:
            raise ValueError("expected an overlay for the same graph; make both from one `Graph`")
        groups, ids = _merge_groups(self.groups, other.groups)
        other = _rename_ids(other, ids)
        nodes = dict(self.nodes)
        for name, node in other.nodes.items():
            nodes[name] = _merge_nodes(nodes.get(name, Node()), node)
        notes, images = (*self.notes, *other.notes), (*self.images, *other.images)
        numbers = (*self.numbers, *other.numbers)
        return Overlay(graph=self.graph, nodes=nodes, groups=tuple(groups), notes=notes, images=images, numbers=numbers)

    __or__ = merge

    def hides(self, graph: Graph, name: str) -> bool:
        """Whether pictures leave out a node, function call or group, or something around it."""
        if name in self.nodes and self.nodes[name].hide:
            return True
        groups = [group.id for group in self.groups if name in group.nodes]
        calls = [call.id for call in graph.functions_around(name)] if name in graph.hierarchy else []
        call = graph.functions.get(name)
        around = (call.parent if call else graph.hierarchy.get(name)) or None
        return any(self.hides(graph, one) for one in (*groups, *calls, *([around] if around else [])))

    def gone(self, graph: Graph) -> tuple[str, ...]:
        """Return the ids in this overlay that a graph doesn't have; none for the graph it was made for."""
        if self.graph == structural_digest(graph):
            return ()
        known = {"", *(node.id for node in graph.nodes), *graph.functions, *(group.id for group in self.groups)}
        members = [one.nodes for several in (self.groups, self.notes, self.images) for one in several]
        members += [tuple(one.values) for one in self.numbers]
        used = dict.fromkeys([*self.nodes, *(name for names in members for name in names)])
        return tuple(name for name in used if name not in known)


def _merge_nodes(node: Node, other: Node) -> Node:
    values = {name: getattr(other, name) for name in Node.__struct_fields__}
    return msgspec.structs.replace(node, **{name: value for name, value in values.items() if value})


def add_group(groups: Sequence[Group], new: Group) -> list[Group]:
    """Add a group, inside or around other groups if they share members.

    Raises:
        ValueError: if it overlaps with another group and neither contains the other.
    """
    held = {group.id: _find_members(group, groups) for group in groups}
    wanted = _find_members(new, groups)
    for group in groups:
        shared = [name for name in wanted if name in held[group.id]]
        sizes = len(wanted), len(held[group.id])
        if shared and (len(shared) == sizes[0] == sizes[1] or len(shared) < min(sizes)):
            text = f"{shared[0]} is in group {group.name!r} already"
            raise ValueError(f"{text}; expected groups without a common member, or one entirely inside the other")
    around = [group for group in groups if wanted.keys() <= held[group.id].keys()]
    inside = [group for group in groups if held[group.id].keys() < wanted.keys()]
    for group in inside:  # the innermost first
        new = _put_inside(new, group.id, held[group.id])
    if not around:
        return [*groups, new]
    closest, at = around[0], groups.index(around[0])
    outer = _put_inside(closest, new.id, {*wanted, *(group.id for group in inside)})
    return [*groups[:at], new, outer, *groups[at + 1 :]]


def _find_members(group: Group, groups: Iterable[Group]) -> dict[str, None]:
    """Return all nodes in a group, including those of groups inside it."""
    by_id = {one.id: one for one in groups}
    found: dict[str, None] = {}
    for name in group.nodes:
        found |= _find_members(by_id[name], groups) if name in by_id else {name: None}
    return found


def _put_inside(outer: Group, name: str, members: Iterable[str]) -> Group:
    """Replace members of a group by a group inside it."""
    gone = {*members, name}
    at = next(i for i, node in enumerate(outer.nodes) if node in gone)
    kept = [node for node in outer.nodes if node not in gone]
    return msgspec.structs.replace(outer, nodes=(*kept[:at], name, *kept[at:]))


def _merge_groups(groups: Sequence[Group], others: Sequence[Group]) -> tuple[list[Group], dict[str, str]]:
    """Merge the groups of two overlays; also return the new ids of groups whose id was taken.

    Raises:
        ValueError: if two of them overlap.
    """
    found, ids = [*groups], dict[str, str]()
    for group in others:
        new = msgspec.structs.replace(group, nodes=tuple(ids.get(name, name) for name in group.nodes))
        same = next((one for one in found if one.id == group.id), None)
        if same is not None and _find_members(same, found).keys() == _find_members(new, found).keys():
            found[found.index(same)] = msgspec.structs.replace(same, name=group.name)
            continue
        if same is not None:
            ids[group.id] = _find_free_id(group.id, {one.id for one in (*found, *others)})
        found = add_group(found, msgspec.structs.replace(new, id=ids.get(group.id, group.id)))
    return found, ids


def _find_free_id(name: str, taken: set[str]) -> str:
    stem, number = name.partition("[]")[0] + "[]", 2
    while f"{stem}#{number}" in taken:
        number += 1
    return f"{stem}#{number}"


def _rename_ids(overlay: Overlay, ids: Mapping[str, str]) -> Overlay:

    def new(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(ids.get(name, name) for name in names)

    nodes: dict[str, Node] = {
        ids.get(name, name): msgspec.structs.replace(node, order=new(node.order))
        for name, node in overlay.nodes.items()
    }
    notes = tuple(msgspec.structs.replace(note, nodes=new(note.nodes)) for note in overlay.notes)
    images = tuple(msgspec.structs.replace(image, nodes=new(image.nodes)) for image in overlay.images)
    numbers = tuple(
        msgspec.structs.replace(one, values={ids.get(name, name): value for name, value in one.values.items()})
        for one in overlay.numbers
    )
    return msgspec.structs.replace(overlay, nodes=nodes, notes=notes, images=images, numbers=numbers)


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of an overlay file."""
    return make_schema(Overlay, f"modeldiagrams overlay, format version {VERSION}")
