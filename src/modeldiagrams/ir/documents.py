"""Reads and writes JSON documents with a format and a version: graphs and overlays."""

from __future__ import annotations

import gzip
import inspect
import os
import re
import zlib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from modeldiagrams.common import files
from modeldiagrams.common.decoding import decodable
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.text import escape_controls, escape_surrogates

__all__ = [
    "add_file_name",
    "check_version",
    "decompress",
    "encode",
    "make_schema",
    "parse_json",
    "read_bytes",
    "read_document",
    "to_graph_error",
    "write_document",
]

T = TypeVar("T")

_GZIP = b"\x1f\x8b"
_LARGEST = 10**9
"""The maximum size of a decompressed document in bytes."""
_LOCATION = re.compile(r" - at `(?P<path>.*)`$")
"""The JSON path at the end of msgspec's messages."""


def read_document(path: str | os.PathLike[str], kind: type[T], name: str, version: str) -> T:
    """Read a file that holds one document.

    Raises:
        GraphError: if it can't be read or holds something else, with file name and JSON path.
    """
    data = read_bytes(path, "overlay")
    try:
        head = parse_json(data)
        check_version(head, name, version)
        return msgspec.convert(head, decodable(kind))
    except msgspec.ValidationError as error:
        raise add_file_name(path, to_graph_error(error)) from error
    except GraphError as error:
        raise add_file_name(path, error) from error


def encode(content: Any) -> bytes:
    """Write a struct or plain data as JSON; escape characters in the model's names that UTF-8 can't encode."""
    try:
        return escape_controls(msgspec.json.encode(content))
    except UnicodeEncodeError:
        return escape_controls(msgspec.json.encode(escape_surrogates(msgspec.to_builtins(content))))


def write_document(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file, compressed if its name ends in ``.gz``; replace an existing one in one step."""
    files.write_atomically(Path(path), gzip.compress(content, mtime=0) if Path(path).suffix == ".gz" else content)


def decompress(data: bytes) -> bytes:
    """Return the content of a document that may be compressed.

    Raises:
        GraphError: if it is damaged or too large.
    """
    if not data.startswith(_GZIP):
        return data
    gzipped = zlib.decompressobj(wbits=zlib.MAX_WBITS + 16)
    try:
        content = gzipped.decompress(data, _LARGEST)
    except zlib.error as error:
        raise GraphError("$", f"expected a whole gzip file: {error}") from error
    if not gzipped.eof:
        raise GraphError("$", f"expected a whole gzip file of at most {_LARGEST // 10**6} MB of text")
    return content


def read_bytes(path: str | os.PathLike[str], what: str) -> bytes:
    """Read the bytes of a file that should hold a graph or another document.

    Raises:
        GraphError: if it can't be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise GraphError(os.fspath(path), f"expected a readable {what} file: {error.strerror or error}") from error


def add_file_name(path: str | os.PathLike[str], error: GraphError) -> GraphError:
    """Put the name of a file in front of the JSON path of an error."""
    return GraphError(f"{os.fspath(path)}: {error.path}", str(error).removeprefix(f"{error.path}: "))


def parse_json(data: bytes | str) -> Any:
    """Read JSON text, which may be compressed, as plain data.

    Raises:
        GraphError: if it is not JSON.
    """
    try:
        return msgspec.json.decode(decompress(data) if isinstance(data, bytes) else data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise GraphError("$", f"expected JSON, got something else: {error}") from error


def check_version(head: Any, name: str, version: str) -> None:
    """Refuse documents of another format or of a later major version.

    Args:
        head: The document as plain data.
        name: The expected format.
        version: The latest version that this release reads.

    Raises:
        GraphError: if the document is refused, with a JSON path.
    """
    if not isinstance(head, dict) or head.get("format") != name:
        raise GraphError("$.format", f"expected {name!r} (a file of this package), got something else")
    found = head.get("version")
    if not isinstance(found, str) or not re.fullmatch(r"\d+\.\d+", found):
        raise GraphError("$.version", f"expected a version such as {version!r}, got {found!r}")
    if int(found.split(".")[0]) > int(version.split(".", maxsplit=1)[0]):
        raise GraphError(
            "$.version",
            f"this file has format version {found}, this modeldiagrams reads up to {version}; "
            "upgrade modeldiagrams or write the file again with this release",
        )


def to_graph_error(error: msgspec.ValidationError) -> GraphError:
    """Convert an error of msgspec to one of ours."""
    text = str(error)
    match = _LOCATION.search(text)
    return GraphError(match["path"] if match else "$", text[: match.start()] if match else text)


def make_schema(kind: type, title: str) -> dict[str, Any]:
    """Make the JSON Schema (2020-12) of documents of a type."""
    # through JSON, because msgspec uses tuples for default values
    content = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(kind)))
    for part in content["$defs"].values():
        if "description" in part:  # whose indentation depends on the versions of msgspec and Python
            part["description"] = inspect.cleandoc(part["description"])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **content}
