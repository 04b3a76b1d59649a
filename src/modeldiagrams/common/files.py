"""Writes files atomically, and hashes them."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
from pathlib import Path, PurePath

__all__ = ["GRAPHS", "digest", "digest_file", "get_graph_name", "write_atomically"]

GRAPHS = (".json", ".json.gz")
"""Endings of graph files."""


def get_graph_name(path: PurePath) -> str:
    """Return the name of a graph file without its ending."""
    return path.name.removesuffix(".gz").removesuffix(".json")


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file in one step, so that no reader sees half of it; creates missing folders.

    A file with the same content is not touched, to keep its modification time.
    """
    with contextlib.suppress(OSError):
        if path.read_bytes() == data:
            return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        # mkstemp makes private files, but outputs have the usual permissions
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink()
        raise


def digest(*parts: bytes, size: int = 16) -> str:
    """Hash one or more byte strings to `2 * size` hex digits.

    Several parts are hashed with their lengths, so that the boundaries count.
    """
    found = hashlib.blake2b(digest_size=size)
    for part in parts:
        found.update(part if len(parts) == 1 else len(part).to_bytes(8) + part)
    return found.hexdigest()


def digest_file(path: Path) -> str:
    """Hash a file's content, which is read again only if its modification time or size has changed.

    Raises:
        OSError: if the file can't be read.
    """
    status = path.stat()
    return _digest_content(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=4096)
def _digest_content(path: Path, modified: int, size: int) -> str:  # noqa: ARG001  (parts of the cache's key)
    return digest(path.read_bytes())
