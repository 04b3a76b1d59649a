"""Traced graphs, their data for pages and drawn pictures on disk, so that a warm rebuild starts no process.

An entry is named by the digest of all that decides its content. A graph also depends on the user's source files that
the trace used, and on the libraries that the model is made of: it is valid while each file has its digest and each
library its version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.common.environment import made_with, versions
from modeldiagrams.common.files import digest
from modeldiagrams.engine.loaded import LoadedGraph
from modeldiagrams.engine.sources import are_unchanged, source_digests
from modeldiagrams.ir.graph import Graph
from modeldiagrams.ir.serialize import deserialize
from modeldiagrams.ir.structure import holds_less
from modeldiagrams.render.draw import viewer_digest
from modeldiagrams.render.flat import flat_digest
from modeldiagrams.worker import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from modeldiagrams.engine.store import Store
    from modeldiagrams.options.options import Options, View
    from modeldiagrams.render.draw import Beside, Picture, Theme
    from modeldiagrams.render.picture_file import FileForm, PictureFile

__all__ = ["Cache", "cached_picture", "graph_key", "picture_file_key", "picture_key"]

T = TypeVar("T")
_Drawn = TypeVar("_Drawn", "Picture", "PictureFile")


class _GraphEntry(msgspec.Struct, frozen=True):
    sources: dict[str, str | None]
    """Absolute file → digest of its content."""
    libraries: dict[str, str]
    """Distribution → version."""
    python: str | None
    """The interpreter that has them; None for this process's."""
    names: dict[str, tuple[str, ...]]
    name: str | None
    has_case_variant: bool
    digest: str
    """Of the graph's JSON text."""
    graph: msgspec.Raw


class _ImageEntry(msgspec.Struct, frozen=True):
    """What a function made of a model; with the fields of a graph's entry."""

    sources: dict[str, str | None]
    libraries: dict[str, str]
    python: str | None
    image: bytes


class _Alias(msgspec.Struct, frozen=True):
    """Another name of a model, under which its package exports it."""

    sources: dict[str, str | None]
    """That say so: absolute file → digest of its content."""
    key: str
    """Of the graph."""


class _PageEntry(msgspec.Struct, frozen=True):
    data: str


class Cache:
    """Graphs and pictures in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def has_graph(self, key: str) -> bool:
        """Whether `graph` has one."""
        return self._entry(key) is not None

    def graph(self, key: str) -> LoadedGraph | None:
        """The graph traced under this key, if neither its sources nor its libraries have changed since."""
        entry = self._entry(key)
        if entry is None:
            return None
        content = bytes(entry.graph)
        if digest(content) != entry.digest:
            self._store.discard(f"{key}.graph", "its content is not what was written")
            return None
        # it was checked when it was traced, and comparing a digest is cheaper than checking it again
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

    def _entry(self, key: str) -> _GraphEntry | None:
        entry = self._store.read(f"{key}.graph", _GraphEntry)
        if entry is None and (alias := self._store.read(f"{key}.alias", _Alias)) and are_unchanged(alias.sources):
            entry = self._store.read(f"{alias.key}.graph", _GraphEntry)
        return entry if entry and _is_valid(entry) else None

    def add_graph(self, key: str, traced: Traced, python: str | None = None, *, other_keys: Iterable[str] = ()) -> None:
        """Keep a graph, unless a valid one is there that holds more.

        Args:
            key: Digest of what it was traced from, see `graph_key`.
            traced: The graph, its sources and libraries.
            python: The interpreter that traced it; None for this process's.
            other_keys: Of the model under its other names.
        """
        if (kept := self.graph(key)) and holds_less(deserialize(traced.graph), kept.graph):
            return
        entry = _GraphEntry(
            sources=source_digests(traced.sources),
            libraries=versions(traced.libraries, python),
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

    def image(self, key: str) -> Traced | None:
        """What a function made under this key, if neither its sources nor its libraries have changed since."""
        entry = self._store.read(f"{key}.image", _ImageEntry)
        if entry is None or not _is_valid(entry):
            return None
        return Traced(graph=b"", image=entry.image, sources=tuple(entry.sources), libraries=tuple(entry.libraries))

    def add_image(self, key: str, made: Traced, python: str | None) -> None:
        """Keep what a function made; arguments as of `add_graph`."""
        libraries = versions(made.libraries, python)
        entry = _ImageEntry(source_digests(made.sources), libraries, python, made.image)
        self._store.write(f"{key}.image", entry)

    def page_data(self, made_from: Sequence[bytes], make: Callable[[], str]) -> str:
        """What pages have of a diagram, see `html.fragment.data_script`; made if there is none yet."""
        name = f"{digest(*made_from)}.page"
        entry = self._store.read(name, _PageEntry)
        if entry is None:
            entry = _PageEntry(make())
            self._store.write(name, entry)
        return entry.data

    def picture(self, key: str, type_: type[T]) -> T | None:
        """The picture drawn under this key, for a page or as a file."""
        return self._store.read(f"{key}.picture", type_)

    def add_picture(self, key: str, picture: Picture | PictureFile) -> None:
        """Keep a picture."""
        self._store.write(f"{key}.picture", picture)


def cached_picture(cache: Cache | None, key: str, kind: type[_Drawn], draw: Callable[[], _Drawn]) -> _Drawn:
    """Take a picture from the cache, or draw it and keep it."""
    picture = cache.picture(key, kind) if cache else None
    if picture is None:
        picture = draw()
        if cache:
            cache.add_picture(key, picture)
    return picture


def graph_key(options: Options, folder: Path) -> str:
    """Digest of what a trace is made from, apart from sources and libraries.

    Args:
        options: The model and its inputs.
        folder: The documentation's folder: two projects may share a cache and have modules of the same name.
    """
    limits = options.limits
    made_from = [str(folder.absolute()), made_with(python=limits.python), options.call, limits.device, limits.python]
    return digest(msgspec.msgpack.encode(made_from))


def picture_key(content: bytes, view: View, beside: Beside | None = None) -> str:
    """Digest of what a picture is made from: a graph's JSON text, the view, and the viewer itself."""
    more = [msgspec.json.encode(beside)] if beside else []
    return digest(content, msgspec.json.encode(view), viewer_digest().encode(), *more)


def picture_file_key(content: bytes, view: View, form: FileForm, theme: Theme, beside: Beside | None = None) -> str:
    """The same of a picture file, which also depends on its form, and on what makes pictures flat."""
    return digest(picture_key(content, view, beside).encode(), form.encode(), theme.encode(), flat_digest().encode())


def _is_valid(entry: _GraphEntry | _ImageEntry) -> bool:
    return versions(entry.libraries, entry.python) == entry.libraries and are_unchanged(entry.sources)
