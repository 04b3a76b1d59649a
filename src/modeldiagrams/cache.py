"""Traced graphs and drawn pictures on disk, so that a warm rebuild starts no process.

Every entry is one JSON file named by the digest of all that decides its content. A graph also depends on the user's
source files that the trace used, and on the libraries that the model is made of: it is valid only while each file still
has its digest and each library its version. The folder keeps what was used last, up to `LIMIT`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from modeldiagrams.errors import OptionError
from modeldiagrams.graph import Graph
from modeldiagrams.installed import made_with, versions
from modeldiagrams.render import Picture, View, viewer_digest
from modeldiagrams.serialize import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.options import Options
    from modeldiagrams.worker import Traced

__all__ = ["Cache", "CachedGraph", "Surroundings", "graph_key", "picture_key"]

TRACE_OPTIONS = ("model", "args", "kwargs", "config", "inputs", "inputs_from")
"""Names of the options that say what is called and with what."""

LIMIT = 256 * 10**6
"""Bytes that a cache keeps from one build to the next."""

_log = logging.getLogger(__name__)

T = TypeVar("T")

Surroundings = Callable[[Iterable[str]], str]
"""Files → digest of what can be imported beside them and elsewhere."""


class _GraphEntry(msgspec.Struct, frozen=True):
    sources: dict[str, str | None]
    """Absolute file → digest of its content."""
    libraries: dict[str, str]
    """Distribution → version."""
    python: str | None
    """The interpreter that has them, if it is another than the documentation's."""
    names: dict[str, tuple[str, ...]]
    has_twin: bool
    digest: str
    """Of the graph's JSON text."""
    graph: msgspec.Raw


class _FailureEntry(msgspec.Struct, frozen=True):
    sources: dict[str, str | None]
    """Absolute file → digest of its content."""
    surroundings: str
    """Digest of what could be imported."""
    answer: msgspec.Raw


class CachedGraph(msgspec.Struct, frozen=True):
    """A graph as it was traced before."""

    graph: Graph
    content: bytes
    """Its JSON text."""
    sources: tuple[str, ...]
    libraries: tuple[str, ...]
    names: dict[str, tuple[str, ...]]
    has_twin: bool


class Cache:
    """A folder of entries. Several processes may use it at once."""

    def __init__(self, folder: Path) -> None:
        """Make nothing yet; the folder comes with the first entry."""
        self._folder = folder
        self._has_grown = False

    def graph(self, key: str) -> CachedGraph | None:
        """The graph traced under this key, if neither its sources nor its libraries have changed since."""
        path = self._folder / f"{key}.graph.json"
        entry = _read(path, _GraphEntry)
        if entry is None or not _is_valid(entry):
            return None
        content = bytes(entry.graph)
        if _digest(content) != entry.digest:
            _discard(path, "its content is not what was written")
            return None
        # it was checked when it was traced, and a digest is cheaper than checking it for every build
        graph = msgspec.json.decode(content, type=Graph)
        return CachedGraph(graph, content, tuple(entry.sources), tuple(entry.libraries), entry.names, entry.has_twin)

    def add_graph(self, key: str, traced: Traced, python: str | None = None) -> None:
        """Keep a graph.

        Args:
            key: What it was made from, see `graph_key`.
            traced: The graph, and what else it depends on.
            python: The interpreter that traced it, if it is another than this one.
        """
        entry = _GraphEntry(
            sources={file: _file_digest(Path(file)) for file in traced.sources},
            libraries=versions(traced.libraries, python),
            python=python,
            names=traced.names,
            has_twin=traced.has_twin,
            digest=_digest(traced.graph),
            graph=msgspec.Raw(traced.graph),
        )
        self._write(f"{key}.graph.json", entry)

    def failure(self, key: str, surroundings: Surroundings) -> bytes | None:
        """What was kept of a trace that failed, if neither its sources nor what can be imported has changed since."""
        entry = _read(self._folder / f"{key}.failure.json", _FailureEntry)
        if entry is None or entry.surroundings != surroundings(entry.sources) or not _has_sources(entry.sources):
            return None
        return bytes(entry.answer)

    def add_failure(self, key: str, answer: bytes, sources: Iterable[str], surroundings: Surroundings) -> None:
        """Keep that a trace has failed.

        Args:
            key: Of what was tried, see `graph_key`.
            answer: JSON text, whatever it says.
            sources: The user's files that were loaded until then.
            surroundings: Digest of what can be imported, beside these files and elsewhere.
        """
        digests = {file: _file_digest(Path(file)) for file in sources}
        entry = _FailureEntry(sources=digests, surroundings=surroundings(digests), answer=msgspec.Raw(answer))
        self._write(f"{key}.failure.json", entry)

    def picture(self, key: str) -> Picture | None:
        """The picture drawn under this key."""
        return _read(self._folder / f"{key}.picture.json", Picture)

    def add_picture(self, key: str, picture: Picture) -> None:
        """Keep a picture."""
        self._write(f"{key}.picture.json", picture)

    def trim(self, limit: int = LIMIT) -> None:
        """Remove what was not used for longest, if this object has written and the folder holds more than the limit."""
        if not self._has_grown:
            return
        left = limit
        for path, status in sorted(_files(self._folder), key=lambda file: file[1].st_mtime_ns, reverse=True):
            left -= status.st_size
            if left < 0:
                _discard(path, f"the cache holds more than {limit} bytes")

    def _write(self, name: str, entry: Any) -> None:
        """A cache that can't be written costs time, not the build."""
        try:
            write_atomically(self._folder / name, msgspec.json.encode(entry))
            self._has_grown = True
        except OSError as error:
            _log.debug("cache entry %s was not written: %s", name, error)


def graph_key(options: Options, folder: Path) -> str:
    """Digest of what a trace is made from, sources and libraries apart.

    Args:
        options: The model and its inputs.
        folder: The documentation's folder: two projects may share a cache and have modules of the same name.

    Raises:
        OptionError: if an option holds something else than plain data.
    """
    parts = [_encoded(name, getattr(options, name)) for name in (*TRACE_OPTIONS, "device", "python")]
    makers = made_with(python=options.python)
    return _digest(str(folder.absolute()).encode(), msgspec.msgpack.encode(makers), *parts)


def picture_key(content: bytes, view: View) -> str:
    """Digest of what a picture is made from: a graph's JSON text, the view, and the viewer itself."""
    return _digest(content, msgspec.json.encode(view), viewer_digest().encode())


def _is_valid(entry: _GraphEntry) -> bool:
    if versions(entry.libraries, entry.python) != entry.libraries:
        return False
    return _has_sources(entry.sources)


def _has_sources(sources: dict[str, str | None]) -> bool:
    return all(_file_digest(Path(file)) == digest for file, digest in sources.items())


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


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        entry = msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        _discard(path, error)
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # it was of use
    return entry


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The folder's files; other processes may remove some at the same time."""
    for path in folder.glob("*.json*"):
        with contextlib.suppress(OSError):
            yield path, path.stat()


def _discard(path: Path, error: object) -> None:
    _log.debug("cache entry %s was discarded: %s", path.name, error)
    try:
        path.unlink(missing_ok=True)
    except OSError as problem:
        _log.debug("cache entry %s can't be removed: %s", path.name, problem)
