"""Caches graphs on disk, and names what is made of them, so that a warm rebuild starts no process.

An entry is named by the digest of everything that determines its content. A graph also depends on the user's source
files that the trace used, and on the model's libraries: it is valid while digests and versions stay the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.common.environment import list_versions, made_with
from modeldiagrams.common.files import digest
from modeldiagrams.engine.loaded_graph import LoadedGraph
from modeldiagrams.engine.sources import are_unchanged, digest_sources
from modeldiagrams.ir.graph import Graph
from modeldiagrams.ir.serialize import deserialize
from modeldiagrams.ir.structure import holds_less
from modeldiagrams.render.draw import digest_viewer
from modeldiagrams.render.flat import digest_flat

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from modeldiagrams.engine.store import Store
    from modeldiagrams.options.options import Options, View
    from modeldiagrams.render.draw import Beside, Theme
    from modeldiagrams.render.picture_file import FileForm
    from modeldiagrams.worker import Traced

__all__ = ["Cache", "GraphEntry", "make_file_key", "make_graph_key", "make_view_key"]


class GraphEntry(msgspec.Struct, frozen=True):
    """A graph that isn't decoded, and what it depends on."""

    sources: dict[str, str | None]
    """Digests of absolute files."""
    libraries: dict[str, str]
    """Versions of distributions."""
    python: str | None
    """The interpreter that has them; None for the current one."""
    names: dict[str, tuple[str, ...]]
    name: str | None
    has_case_variant: bool
    digest: str
    """The digest of the graph's JSON text."""
    graph: msgspec.Raw


class _Alias(msgspec.Struct, frozen=True):
    """Another name under which a package exports a model."""

    sources: dict[str, str | None]
    """Digests of the files that export it."""
    key: str
    """The key of the graph."""


class Cache:
    """Graphs in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def has_graph(self, key: str) -> bool:
        """Whether there is a valid graph under this key."""
        return self.entry(key) is not None

    def graph(self, key: str) -> LoadedGraph | None:
        """Return the graph of this key, unless its sources or libraries have changed."""
        entry = self.entry(key)
        if entry is None:
            return None
        content = bytes(entry.graph)
        if digest(content) != entry.digest:
            self._store.discard(f"{key}.graph", "its content is not what was written")
            return None
        # checked when it was traced; comparing a digest is cheaper than checking it again
        graph = msgspec.json.decode(content, type=decodable(Graph))
        return LoadedGraph(
            graph=graph,
            content=content,
            sources=tuple(entry.sources),
            libraries=tuple(entry.libraries),
            names=entry.names,
            name=entry.name,
            has_case_variant=entry.has_case_variant,
        )

    def entry(self, key: str) -> GraphEntry | None:
        """Return the valid entry of this key."""
        entry = self._store.read(f"{key}.graph", GraphEntry)
        if entry is None and (alias := self._store.read(f"{key}.alias", _Alias)) and are_unchanged(alias.sources):
            entry = self._store.read(f"{alias.key}.graph", GraphEntry)
        return entry if entry and _is_valid(entry) else None

    def add_graph(self, key: str, traced: Traced, python: str | None = None, *, other_keys: Iterable[str] = ()) -> None:
        """Store a graph, unless there is a valid one that is more complete.

        Args:
            key: The digest of its inputs, see `make_graph_key`.
            traced: The graph, its sources and libraries.
            python: The interpreter that traced it; None for the current one.
            other_keys: The keys of the model's other names.
        """
        if (kept := self.graph(key)) and holds_less(deserialize(traced.graph), kept.graph):
            return
        entry = GraphEntry(
            sources=digest_sources(traced.sources),
            libraries=list_versions(traced.libraries, python),
            python=python,
            names=traced.names,
            name=traced.name,
            has_case_variant=traced.has_case_variant,
            digest=digest(traced.graph),
            graph=msgspec.Raw(traced.graph),
        )
        self._store.write(f"{key}.graph", entry)
        for other in other_keys:
            self._store.write(f"{other}.alias", _Alias(sources=entry.sources, key=key))


def make_graph_key(options: Options, folder: Path) -> str:
    """Compute the digest of a trace's inputs, except sources and libraries.

    Args:
        options: The model and its inputs.
        folder: The documentation's folder, because projects that share a cache may have modules of the same name.
    """
    limits = options.limits
    made_from = [str(folder.absolute()), made_with(python=limits.python), options.call, limits.device, limits.python]
    return digest(msgspec.msgpack.encode(made_from))


def make_view_key(content: bytes, view: View, beside: Beside | None = None) -> str:
    """Compute the digest of a picture's inputs: a graph's JSON text, the view, and the viewer itself."""
    more = [msgspec.json.encode(beside)] if beside else []
    return digest(content, msgspec.json.encode(view), digest_viewer().encode(), *more)


def make_file_key(content: bytes, view: View, form: FileForm, theme: Theme, beside: Beside | None = None) -> str:
    """Compute the digest of a picture file's inputs, which include its format and the code for flat pictures."""
    return digest(make_view_key(content, view, beside).encode(), form.encode(), theme.encode(), digest_flat().encode())


def _is_valid(entry: GraphEntry) -> bool:
    return list_versions(entry.libraries, entry.python) == entry.libraries and are_unchanged(entry.sources)
