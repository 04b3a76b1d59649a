"""A folder of compressed JSON entries that several processes may use at once."""

from __future__ import annotations

import contextlib
import gzip
import logging
import os
import time
import zlib
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.common.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["Store", "take_or_make"]

_DAY = 86_400

LIMIT = 256 * 10**6
"""The size in bytes to which `Store.trim` reduces the folder; a model needs a tenth of a megabyte."""

_FAST = 3
"""The level of compression: a tenth is left of graphs and pictures, in 5 ms a megabyte."""

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Store:
    """Reads and writes entries. Errors of the file system cost time but don't fail a build."""

    def __init__(self, folder: Path) -> None:
        """Prepare; the folder is created with the first entry."""
        self._folder = folder
        self._has_grown = False

    def read(self, name: str, type_: type[T]) -> T | None:
        """Read an entry; None if it is missing or damaged, and then it is removed."""
        path = self._path(name)
        try:
            entry = msgspec.json.decode(gzip.decompress(path.read_bytes()), type=decodable(type_))
        except FileNotFoundError:
            return None
        except (OSError, EOFError, zlib.error, msgspec.DecodeError) as error:
            self.discard(name, error)
            return None
        with contextlib.suppress(OSError):
            # `trim` removes the least recently read entries; updated seldom, for tools that watch files for changes
            if time.time() - path.stat().st_mtime > _DAY:
                os.utime(path)
        return entry

    def write(self, name: str, entry: Any) -> None:
        """Add or replace an entry."""
        try:
            if not self._folder.exists():
                # the folder may be inside a work tree
                write_atomically(self._folder / ".gitignore", b"*\n")
            write_atomically(self._path(name), gzip.compress(msgspec.json.encode(entry), _FAST, mtime=0))
            self._has_grown = True
        except OSError as error:
            _log.debug("cache entry %s was not written: %s", name, error)

    def discard(self, name: str, reason: object) -> None:
        """Remove an entry."""
        _discard(self._path(name), reason)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json.gz"

    def trim(self, limit: int = LIMIT) -> None:
        """Remove the least recently used entries above a number of bytes, if this object has written any."""
        if not self._has_grown:
            return
        left = limit
        for path, status in sorted(_list_files(self._folder), key=lambda file: file[1].st_mtime_ns, reverse=True):
            left -= status.st_size
            if left < 0:
                _discard(path, f"the cache has more than {limit} bytes")


def take_or_make(store: Store | None, name: str, type_: type[T], make: Callable[[], T]) -> T:
    """Read an entry; if it is missing, make and write it. Without a store, only make it."""
    entry = store.read(name, type_) if store else None
    if entry is None:
        entry = make()
        if store:
            store.write(name, entry)
    return entry


def _list_files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the folder's files; other processes may remove some at the same time."""
    for path in folder.glob("*.json*"):
        with contextlib.suppress(OSError):
            yield path, path.stat()


def _discard(path: Path, reason: object) -> None:
    _log.debug("cache entry %s was discarded: %s", path.name, reason)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.debug("cache entry %s can't be removed: %s", path.name, error)
