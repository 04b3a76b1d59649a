"""`Graph` ⇄ JSON: the form in which graphs cross process and language borders."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import msgspec

from modeldiagrams.common import files
from modeldiagrams.common.decoding import decodable
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import FORMAT, VERSION, Graph
from modeldiagrams.ir.text import escaped

__all__ = ["deserialize", "load", "save", "schema", "serialize"]

_LOCATION = re.compile(r" - at `(?P<path>.*)`$")
"""The end of msgspec's messages, with a JSON path."""

_MAPPINGS = ("adjacency", "hierarchy", "tensors", "parameters")


def serialize(graph: Graph, *, indent: int = 0) -> bytes:
    """Write a graph as UTF-8 JSON. Equal graphs give equal bytes.

    Args:
        graph: What to write.
        indent: Spaces per level; 0 writes one line.

    Returns:
        The JSON text, without a final newline.
    """
    try:
        compact = msgspec.json.encode(graph)
    except UnicodeEncodeError:  # names and messages are the model's
        compact = msgspec.json.encode(escaped(msgspec.to_builtins(graph)))
    return msgspec.json.format(compact, indent=indent) if indent else compact


def deserialize(data: bytes | str) -> Graph:
    """Read a graph and check its references.

    Args:
        data: JSON text written by `serialize`.

    Returns:
        The graph.

    Raises:
        GraphError: for anything but a consistent graph of a version that this release reads, with its JSON path.
    """
    try:
        head = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise GraphError("$", f"expected JSON, got something else: {error}") from error
    _check_version(head)
    try:
        graph = msgspec.convert(head, decodable(Graph))
    except msgspec.ValidationError as error:
        raise _located(head, error) from error
    check_graph(graph)
    return graph


def load(path: str | os.PathLike[str]) -> Graph:
    """Read a graph file.

    Args:
        path: A file written by `save` or ``modeldiagrams trace``.

    Returns:
        The graph.

    Raises:
        GraphError: if the file can't be read or does not hold a graph, with file name and JSON path.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise GraphError(os.fspath(path), f"expected a readable graph file: {error.strerror or error}") from error
    try:
        return deserialize(data)
    except GraphError as error:
        raise GraphError(f"{os.fspath(path)}: {error.path}", str(error).removeprefix(f"{error.path}: ")) from error


def save(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph file with one value per line, which suits version control.

    Args:
        graph: The graph.
        path: The file; an existing one is replaced in one step.
    """
    files.write_atomically(Path(path), serialize(graph, indent=1) + b"\n")


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a graph file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"modeldiagrams graph, format version {VERSION}",
        # through JSON, because msgspec leaves tuples for default values
        **msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(Graph))),
    }


def _check_version(head: Any) -> None:
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise GraphError("$.format", f"expected {FORMAT!r} (a graph file of this package), got something else")
    version = head.get("version")
    if not isinstance(version, str) or not re.fullmatch(r"\d+\.\d+", version):
        raise GraphError("$.version", f"expected a version such as {VERSION!r}, got {version!r}")
    if int(version.split(".")[0]) > int(VERSION.split(".")[0]):
        raise GraphError(
            "$.version",
            f"this file has format version {version}, this modeldiagrams reads up to {VERSION}; "
            "upgrade modeldiagrams or write the file again with this release",
        )


def _located(head: dict[str, Any], error: msgspec.ValidationError) -> GraphError:
    """Translate msgspec's error; where its path only says ``[...]`` for a mapping, find the key."""
    text = str(error)
    match = _LOCATION.search(text)
    path = match["path"] if match else "$"
    problem = text[: match.start()] if match else text
    key = path.removeprefix("$.").split("[", 1)[0]
    if path.startswith("$.") and "[...]" in path and key in _MAPPINGS:
        item_type = next(field.type for field in msgspec.structs.fields(Graph) if field.name == key)
        for name, value in head[key].items():
            try:
                msgspec.convert({name: value}, item_type)
            except msgspec.ValidationError:
                return GraphError(path.replace("[...]", f"[{name!r}]", 1), problem)
    return GraphError(path, problem)
