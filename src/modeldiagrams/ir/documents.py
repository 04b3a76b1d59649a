"""JSON documents with a format and a version: what reading and writing graphs and overlays have in common."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from modeldiagrams.common import files
from modeldiagrams.common.decoding import decodable
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.text import escaped, printable

__all__ = [
    "at_file",
    "check_version",
    "encoded",
    "file_content",
    "located",
    "parsed",
    "read_document",
    "schema_of",
    "write_document",
]

T = TypeVar("T")

_LOCATION = re.compile(r" - at `(?P<path>.*)`$")
"""The end of msgspec's messages, with a JSON path."""


def read_document(path: str | os.PathLike[str], kind: type[T], name: str, version: str) -> T:
    """Read a file that holds one document.

    Raises:
        GraphError: if it can't be read, or holds something else, with file name and JSON path.
    """
    data = file_content(path, "overlay")
    try:
        head = parsed(data)
        check_version(head, name, version)
        return msgspec.convert(head, decodable(kind))
    except msgspec.ValidationError as error:
        raise at_file(path, located(error)) from error
    except GraphError as error:
        raise at_file(path, error) from error


def encoded(content: Any) -> bytes:
    """JSON text of a struct or of plain data; names are the model's, and may hold what no file can."""
    try:
        return printable(msgspec.json.encode(content))
    except UnicodeEncodeError:
        return printable(msgspec.json.encode(escaped(msgspec.to_builtins(content))))


def write_document(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file; an existing one is replaced in one step."""
    files.write_atomically(Path(path), content)


def file_content(path: str | os.PathLike[str], what: str) -> bytes:
    """The bytes of a file that should hold a graph, or what else is named.

    Raises:
        GraphError: if it can't be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise GraphError(os.fspath(path), f"expected a readable {what} file: {error.strerror or error}") from error


def at_file(path: str | os.PathLike[str], error: GraphError) -> GraphError:
    """The error with the name of the file in front of its JSON path."""
    return GraphError(f"{os.fspath(path)}: {error.path}", str(error).removeprefix(f"{error.path}: "))


def parsed(data: bytes | str) -> Any:
    """Plain data from JSON text.

    Raises:
        GraphError: if it is none.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise GraphError("$", f"expected JSON, got something else: {error}") from error


def check_version(head: Any, name: str, version: str) -> None:
    """Refuse other documents, and those of a later major version.

    Args:
        head: The document as plain data.
        name: The format that is expected.
        version: The latest that this release reads.

    Raises:
        GraphError: with its JSON path.
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


def located(error: msgspec.ValidationError) -> GraphError:
    """The same error as one of ours."""
    text = str(error)
    match = _LOCATION.search(text)
    return GraphError(match["path"] if match else "$", text[: match.start()] if match else text)


def schema_of(kind: type, title: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of documents of a type."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        # through JSON, because msgspec leaves tuples for default values
        **msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(kind))),
    }
