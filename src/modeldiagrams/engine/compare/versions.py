"""Finds the graphs of another version of a documentation: in a folder, in a revision, or of a built site."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urljoin

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.common.files import GRAPHS, get_graph_name
from modeldiagrams.engine.compare.sides import SCHEMES, download, git
from modeldiagrams.errors import GraphError, ModelDiagramsError
from modeldiagrams.ir.documents import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Kept", "complete_side", "find_side", "list_graphs", "list_kept_graphs", "read_site_index"]

_INDEX = "modeldiagrams/index.json"
_MODEL = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*[.:][^\W\d]\w*")


class Kept(NamedTuple):
    """A graph of the other version."""

    names: tuple[str, ...]
    """The names of its snapshots; several if pages call the model by several names."""
    side: str
    """Its location, for `graph_of`."""


class _Entry(msgspec.Struct):
    id: str
    snapshots: list[str]


class _Index(msgspec.Struct):
    """The relevant fields of a site's list of diagrams."""

    diagrams: list[_Entry]


def find_side(version: str, model: str, snapshot: Path | None, folder: Path) -> str | None:
    """Find the graph of another version of a model, as a side for `graph_of`.

    Args:
        version: The author's text: a revision, the address of a site or a graph, or a graph file.
        model: The model.
        snapshot: The model's snapshot; the revision has its own in the same place.
        folder: The folder that the side is relative to.

    Returns:
        The side; None if the version is itself a model.

    Raises:
        ModelDiagramsError: if a site has no such diagram, or there are no snapshots.
    """
    if version.endswith(GRAPHS) or (version.count(":") > 1 and version.startswith("git:")):
        return version
    if not version.startswith("git:") and _MODEL.fullmatch(version):
        return None
    if model.endswith(GRAPHS):
        return f"git:{version.removeprefix('git:')}:{model}"
    if snapshot is None:
        raise ModelDiagramsError("expected a folder of snapshots, as only they have other revisions of a model")
    if version.startswith(SCHEMES):
        return _on_site(version, get_graph_name(snapshot))
    place = Path(os.path.relpath(snapshot, folder)).as_posix()
    return f"git:{version.removeprefix('git:')}:{place}"


def complete_side(side: str, other: str, folder: str) -> str:
    """Complete a revision, `v1.0` or `git:v1.0`, by the path of the graph that the other side names.

    Args:
        side: One side of a comparison, as its author wrote it.
        other: The other side: a model with a snapshot in that revision, or a graph file.
        folder: The name of folders of snapshots.

    Returns:
        The side for `graph_of`.

    Raises:
        ModelDiagramsError: if the revision or its graph doesn't exist, or if several graphs are meant.
    """
    revision = side.removeprefix("git:")
    is_model = revision == side and (_MODEL.fullmatch(side) or ".py:" in side)
    if side == "-" or side.endswith(GRAPHS) or side.startswith(SCHEMES) or ":" in revision or is_model:
        return side
    if other.endswith(GRAPHS) and ":" not in other:
        return f"git:{revision}:{other}"
    expected = f"{side}: expected a model, a graph file, an address or a git revision"
    if revision.startswith("-"):
        raise ModelDiagramsError(expected)
    listed = git(["ls-tree", "-rz", "--name-only", revision], expected, Path()).decode("utf-8", "replace")
    name = re.compile(rf"(.*/)?{re.escape(folder)}/{re.escape(other.replace(':', '.'))}(-[0-9a-f]{{8}})?\.json(\.gz)?")
    found = [path for path in listed.split("\0") if name.fullmatch(path)]
    exact = [path for path in found if get_graph_name(Path(path)) == other.replace(":", ".")]
    if len(exact or found) == 1:
        return f"git:{revision}:{(exact or found)[0]}"
    problem = f"there are several; name one, `git:{revision}:{found[0]}`" if found else "there is none"
    raise ModelDiagramsError(f"{side}: expected the graph of {other} in a folder {folder} of that revision; {problem}")


def _on_site(address: str, name: str) -> str:
    """Find the graph with a snapshot of this name on a site."""
    for kept in _list_on_site(address):
        if name in kept.names:
            return kept.side
    raise ModelDiagramsError(
        f"{address}: expected a site that shows this model, called in the same way; its {_INDEX} has no {name}"
    )


def list_kept_graphs(against: str, folder: Path) -> list[Kept]:
    """Find all graphs of another version, without reading them.

    Args:
        against: A git revision, the address of a site, or a folder, relative to the current one.
        folder: The folder of this version's graphs; the revision has its own in the same place.

    Returns:
        The graphs; sides of a revision are relative to the parent of `folder`.

    Raises:
        ModelDiagramsError: if the version doesn't exist or has no graphs.
    """
    if against.startswith(SCHEMES):
        return _list_on_site(against)
    if Path(against).is_dir():
        return _list_in_folder(Path(against).absolute())
    return _list_in_revision(against, folder)


def _list_in_folder(folder: Path) -> list[Kept]:
    if (index := folder / _INDEX).is_file():
        return _list_in_index(str(index), index.read_bytes(), lambda name: str(index.parent / name))
    if not (found := list_graphs(folder)):
        raise ModelDiagramsError(f"{folder}: expected a folder of graph files, or a built site with {_INDEX}")
    return found


def list_graphs(folder: Path) -> list[Kept]:
    """Return the graph files in a folder, if any."""
    files = sorted(path for path in folder.glob("*.json*") if path.name.endswith(GRAPHS))
    return [Kept((get_graph_name(path),), str(path)) for path in files]


def _list_in_revision(revision: str, folder: Path) -> list[Kept]:
    if revision.startswith("-"):
        raise ModelDiagramsError(f"{revision}: expected a git revision, an address or a folder")
    listed = git(
        ["ls-tree", "-z", "--name-only", revision, "--", f"{folder.name}/"],
        f"{revision}: expected a git revision, an address or a folder",
        folder.parent,
    )
    paths = [Path(path) for path in listed.decode("utf-8", "replace").split("\0") if path.endswith(GRAPHS)]
    if not paths:
        raise ModelDiagramsError(
            f"{revision}: expected graphs in {folder.name} of that revision; `modeldiagrams snapshot` writes them, and"
            " they have to be committed"
        )
    return [Kept((get_graph_name(path),), f"git:{revision}:{path.as_posix()}") for path in paths]


def _list_on_site(address: str) -> list[Kept]:
    place, content = read_site_index(address)
    return _list_in_index(place, content, lambda name: urljoin(place, quote(name)))


def read_site_index(site: str) -> tuple[str, bytes]:
    """Read the list of diagrams of a built site.

    Args:
        site: Its address or folder, or those of the list.

    Returns:
        Where the list is, and its content.

    Raises:
        ModelDiagramsError: if there is none.
    """
    if site.startswith(SCHEMES):
        index = site if site.endswith("/index.json") else f"{site.rstrip('/')}/{_INDEX}"
        content, address = download(index, "a site's list of diagrams")
        return address, content
    path = Path(site) / _INDEX if Path(site).is_dir() else Path(site)
    try:
        return str(path), path.read_bytes()
    except OSError as error:
        raise ModelDiagramsError(f"{path}: expected a site's list of diagrams: {error.strerror or error}") from error


def _list_in_index(place: str, content: bytes, side: Callable[[str], str]) -> list[Kept]:
    try:
        index = msgspec.convert(parse_json(content), decodable(_Index))
    except (GraphError, msgspec.ValidationError) as error:
        raise ModelDiagramsError(f"{place}: expected a site's list of diagrams: {error}") from error
    return [
        # ids also depend on the view, so only names of snapshots are the same in all versions
        Kept(tuple(entry.snapshots), side(f"{entry.id}.json"))
        for entry in index.diagrams
        if entry.snapshots
    ]
