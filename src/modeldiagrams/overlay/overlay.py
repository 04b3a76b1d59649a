"""The overlay: what an author adds to the nodes of one graph, beyond the facts of its pass.

An overlay is plain frozen data like the graph, has a schema and a version of its own, and is keyed by the graph's ids.
Patterns are resolved when it is made, see `resolve`; the viewer applies it (`viewer/src/graph/overlay.ts`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import msgspec

from modeldiagrams.ir.documents import encode, make_schema, read_document, write_document
from modeldiagrams.ir.kinds import Kind  # noqa: TC001  (msgspec reads the annotation)
from modeldiagrams.ir.structure import structural_digest

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from modeldiagrams.ir.graph import Graph

__all__ = ["FORMAT", "VERSION", "Alignment", "Arrangement", "Group", "Image", "Node", "Note", "Overlay", "with_group"]

FORMAT: Literal["modeldiagrams-overlay"] = "modeldiagrams-overlay"
VERSION = "1.0"

Arrangement: TypeAlias = Literal["row", "column", "grid"]
Alignment: TypeAlias = Literal["start", "center", "end"]


class _Struct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Immutable; defaults are left out of the JSON."""


class Node(_Struct, frozen=True, kw_only=True):
    """The annotations of one node, function call or group."""

    rename: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    """The name that the picture shows."""
    hide: bool = False
    """Whether the picture leaves it out, with all that is inside; what it connects stays connected."""
    kind: Kind | None = None
    """The family that colours it."""
    highlight: bool = False
    fade: bool = False
    arrange: Arrangement | None = None
    """Of a container: how what is directly inside stands."""
    align_items: Alignment | None = None
    """Of a container: which edges of what is directly inside are in line."""
    order: tuple[str, ...] = ()
    """Of a container: ids of what is directly inside, in the order in which it stands."""


class Group(_Struct, frozen=True, kw_only=True):
    """Several siblings, shown as one container that opens and closes."""

    id: str
    """``encoder.layers.0/Add_Norm[]``: the parent's id, a slash, the name without odd characters, and ``#n``."""
    name: str
    nodes: tuple[str, ...]
    """Ids of what is directly inside: nodes, function calls and other groups, in execution order."""


class Note(_Struct, frozen=True, kw_only=True):
    """A remark on some nodes; its number is its position from 1."""

    text: str
    """As its author wrote it, in the markup of its page; plain text outside of pages."""
    nodes: tuple[str, ...] = ()
    """None where its pattern matches nothing: the note stands under the picture all the same."""


_DATA = re.compile(r"data:image/(png|jpeg|svg\+xml);base64,[A-Za-z0-9+/]+=*")


class Image(_Struct, frozen=True, kw_only=True):
    """A picture at some nodes; its number is its position from 1."""

    source: str
    """A ``data:`` URL of a PNG, JPEG or SVG file: an overlay depends on no other file."""
    alt: str
    """Text for readers who can't see it."""
    width: float
    """CSS pixels."""
    height: float
    nodes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _DATA.fullmatch(self.source):
            raise ValueError("expected `source` to be a data: URL in base64 of a PNG, JPEG or SVG file")
        if not (self.width >= 1 and self.height >= 1):
            raise ValueError("expected `width` and `height` of at least 1 px")


class Overlay(_Struct, frozen=True, kw_only=True):
    """An author's annotations of the nodes of one graph."""

    format: Literal["modeldiagrams-overlay"] = FORMAT
    version: str = VERSION
    graph: str
    """Structural digest of the graph."""
    nodes: dict[str, Node] = {}
    """Id → its annotations. The id of the model itself is ``""``."""
    groups: tuple[Group, ...] = ()
    """Those inside of another group precede it."""
    notes: tuple[Note, ...] = ()
    images: tuple[Image, ...] = ()

    @property
    def group_names(self) -> list[str]:
        """Names and ids of all groups."""
        return [name for group in self.groups for name in (group.name, group.id)]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Overlay:
        """Read an overlay file.

        Raises:
            GraphError: if the file can't be read or does not hold an overlay, with file name and JSON path.
        """
        return read_document(path, cls, FORMAT, VERSION)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an overlay file with one value per line; an existing one is replaced in one step."""
        write_document(path, self.to_json(indent=1) + b"\n")

    def to_json(self, indent: int = 0) -> bytes:
        """The JSON text. Equal overlays give equal bytes."""
        whole = {"format": self.format, "version": self.version, **msgspec.to_builtins(self)}
        compact = encode(whole)
        return msgspec.json.format(compact, indent=indent) if indent else compact

    def without_texts(self) -> Overlay:
        """The same with notes that have only their numbers, for where a page has the texts."""
        notes = tuple(msgspec.structs.replace(note, text="") for note in self.notes)
        return msgspec.structs.replace(self, notes=notes)

    def for_pages(self) -> bytes:
        """The JSON text without what lists of a page hold: the texts of notes, and images, which are large."""
        said = msgspec.to_builtins(self.without_texts())
        for image in said.get("images", ()):
            image["source"] = ""
        return encode(said)

    def merge(self, other: Overlay) -> Overlay:
        """Both overlays together. If both annotate a node, values of the other one win; its notes come last.

        Groups of both stay: another group of the same name gets an id of its own, and one that lies entirely inside
        another is put into it.

        Raises:
            ValueError: if the other one is for another graph, or two groups overlap.
        """
        if other.graph != self.graph:
            raise ValueError("expected an overlay for the same graph; make both from one `Graph`")
        groups, ids = _joined(self.groups, other.groups)
        other = _renamed(other, ids)
        nodes = dict(self.nodes)
        for name, node in other.nodes.items():
            nodes[name] = _with(nodes.get(name, Node()), node)
        notes, images = (*self.notes, *other.notes), (*self.images, *other.images)
        return Overlay(graph=self.graph, nodes=nodes, groups=tuple(groups), notes=notes, images=images)

    __or__ = merge

    def hides(self, graph: Graph, name: str) -> bool:
        """Whether pictures leave out a node, a function call or a group, or what it is inside of."""
        if name in self.nodes and self.nodes[name].hide:
            return True
        groups = [group.id for group in self.groups if name in group.nodes]
        calls = [call.id for call in graph.functions_around(name)] if name in graph.hierarchy else []
        call = graph.functions.get(name)
        around = (call.parent if call else graph.hierarchy.get(name)) or None
        return any(self.hides(graph, one) for one in (*groups, *calls, *([around] if around else [])))

    def gone(self, graph: Graph) -> tuple[str, ...]:
        """Ids in this overlay that a graph does not have; none for the graph that it was made for."""
        if self.graph == structural_digest(graph):
            return ()
        known = {"", *(node.id for node in graph.nodes), *graph.functions, *(group.id for group in self.groups)}
        members = [one.nodes for several in (self.groups, self.notes, self.images) for one in several]
        spoken_of = dict.fromkeys([*self.nodes, *(name for names in members for name in names)])
        return tuple(name for name in spoken_of if name not in known)


def _with(node: Node, other: Node) -> Node:
    said = {name: getattr(other, name) for name in Node.__struct_fields__}
    return msgspec.structs.replace(node, **{name: value for name, value in said.items() if value})


def with_group(groups: Sequence[Group], new: Group) -> list[Group]:
    """Groups with one more, which takes its place inside of others, or around them: a node has one place.

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
            raise ValueError(f"{text}; expected groups without a common member, or one entirely inside the other")
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


def _joined(groups: Sequence[Group], others: Sequence[Group]) -> tuple[list[Group], dict[str, str]]:
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


def _renamed(overlay: Overlay, ids: Mapping[str, str]) -> Overlay:
    """What an overlay says, with other ids."""

    def new(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(ids.get(name, name) for name in names)

    nodes: dict[str, Node] = {
        ids.get(name, name): msgspec.structs.replace(node, order=new(node.order))
        for name, node in overlay.nodes.items()
    }
    notes = tuple(msgspec.structs.replace(note, nodes=new(note.nodes)) for note in overlay.notes)
    images = tuple(msgspec.structs.replace(image, nodes=new(image.nodes)) for image in overlay.images)
    return msgspec.structs.replace(overlay, nodes=nodes, notes=notes, images=images)


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of an overlay file."""
    return make_schema(Overlay, f"modeldiagrams overlay, format version {VERSION}")
