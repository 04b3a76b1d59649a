"""Traced graphs and drawn pictures on disk, so that a warm rebuild starts no process.

Every entry is one JSON file named by the digest of all that decides its content. A graph also depends on the user's
source files that the trace used: it is valid only while each of them still has its digest.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from importlib import metadata
from pathlib import Path
from platform import python_version_tuple
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

import modeldiagrams
from modeldiagrams.errors import OptionError
from modeldiagrams.graph import Graph
from modeldiagrams.render import Picture, View, viewer_digest
from modeldiagrams.serialize import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.options import Options

__all__ = ["Cache", "CachedGraph", "graph_key", "picture_key"]

TRACE_OPTIONS = ("model", "args", "kwargs", "config", "inputs", "inputs_from")
"""Names of the options that decide what a trace holds."""

_log = logging.getLogger(__name__)

T = TypeVar("T")


class _GraphEntry(msgspec.Struct, frozen=True):
    sources: dict[str, str | None]
    """Absolute file → digest of its content."""
    digest: str
    """Of the graph's JSON text."""
    graph: msgspec.Raw


class CachedGraph(msgspec.Struct, frozen=True):
    """A graph as it was traced before."""

    graph: Graph
    content: bytes
    """Its JSON text."""
    sources: tuple[str, ...]


class Cache:
    """A folder of entries. Several processes may use it at once."""

    def __init__(self, folder: Path) -> None:
        """Make nothing yet; the folder comes with the first entry."""
        self._folder = folder

    def graph(self, key: str) -> CachedGraph | None:
        """The graph traced under this key, if none of its sources has changed since."""
        path = self._folder / f"{key}.graph.json"
        entry = _read(path, _GraphEntry)
        if entry is None or any(_file_digest(Path(file)) != digest for file, digest in entry.sources.items()):
            return None
        content = bytes(entry.graph)
        if _digest(content) != entry.digest:
            _discard(path, "its content is not what was written")
            return None
        # it was checked when it was traced, and a digest is cheaper than checking it for every build
        return CachedGraph(msgspec.json.decode(content, type=Graph), content, tuple(entry.sources))

    def add_graph(self, key: str, content: bytes, sources: Iterable[str]) -> None:
        """Keep a graph's JSON text."""
        digests = {file: _file_digest(Path(file)) for file in sources}
        _write(self._folder / f"{key}.graph.json", _GraphEntry(digests, _digest(content), msgspec.Raw(content)))

    def picture(self, key: str) -> Picture | None:
        """The picture drawn under this key."""
        return _read(self._folder / f"{key}.picture.json", Picture)

    def add_picture(self, key: str, picture: Picture) -> None:
        """Keep a picture."""
        _write(self._folder / f"{key}.picture.json", picture)


def graph_key(options: Options, folder: Path) -> str:
    """Digest of what a trace is made from, sources apart.

    Args:
        options: The model and its inputs.
        folder: The documentation's folder: two projects may share a cache and have modules of the same name.

    Raises:
        OptionError: if an option holds something else than plain data.
    """
    package = options.model.partition(":")[0].split(".")[0]
    # a distribution is most often named like its package; its files are not among the sources
    versions = [modeldiagrams.__version__, *python_version_tuple()[:2], _version("torch"), _version(package)]
    parts = [_encoded(name, getattr(options, name)) for name in TRACE_OPTIONS]
    return _digest(str(folder.absolute()).encode(), msgspec.msgpack.encode(versions), *parts)


def picture_key(content: bytes, view: View) -> str:
    """Digest of what a picture is made from: a graph's JSON text, the view, and the viewer itself."""
    return _digest(content, msgspec.json.encode(view), viewer_digest().encode())


def _encoded(option: str, value: Any) -> bytes:
    try:
        return msgspec.msgpack.encode(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(
            option, f"expected plain data (numbers, text, lists, maps), got {value!r}: {error}"
        ) from error


def _digest(*parts: bytes) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8) + part)
    return digest.hexdigest()


def _file_digest(path: Path) -> str | None:
    """Hash of a file's content; None if it can't be read."""
    try:
        status = path.stat()
        return _digest_once(path, status.st_mtime_ns, status.st_size)
    except OSError:
        return None


@functools.lru_cache(maxsize=4096)
def _digest_once(path: Path, modified: int, size: int) -> str:  # noqa: ARG001  (what tells one content from the next)
    """Diagrams of one project share their sources: each is read once a build."""
    return _digest(path.read_bytes())


@functools.cache
def _version(distribution: str) -> str | None:
    """An installed version, without importing anything."""
    try:
        return metadata.version(distribution)
    except (metadata.PackageNotFoundError, ValueError):
        return None


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        _discard(path, error)
        return None


def _write(path: Path, entry: Any) -> None:
    """A cache that can't be written costs time, not the build."""
    try:
        write_atomically(path, msgspec.json.encode(entry))
    except OSError as error:
        _log.debug("cache entry %s was not written: %s", path.name, error)


def _discard(path: Path, error: object) -> None:
    _log.debug("cache entry %s was discarded: %s", path.name, error)
    try:
        path.unlink(missing_ok=True)
    except OSError as problem:
        _log.debug("cache entry %s can't be removed: %s", path.name, problem)
