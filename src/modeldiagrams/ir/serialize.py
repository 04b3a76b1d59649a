"""`Graph` ⇄ JSON: the form in which graphs cross process and language borders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.documents import (
    add_file_name,
    check_version,
    decompress,
    encode,
    make_schema,
    parse_json,
    read_bytes,
    to_graph_error,
    write_document,
)
from modeldiagrams.ir.graph import FORMAT, VERSION, Graph

if TYPE_CHECKING:
    import os

__all__ = ["deserialize", "is_graph_file", "load", "save", "schema", "serialize"]


class _Head(msgspec.Struct):
    format: str


_MAPPINGS = ("adjacency", "hierarchy", "tensors", "parameters")


def serialize(graph: Graph, *, indent: int = 0) -> bytes:
    """Write a graph as UTF-8 JSON. Equal graphs give equal bytes.

    Args:
        graph: The graph.
        indent: Spaces per level; 0 writes one line.

    Returns:
        The JSON text, without a final newline.
    """
    compact = encode(graph)
    return msgspec.json.format(compact, indent=indent) if indent else compact


def deserialize(data: bytes | str) -> Graph:
    """Read a graph and check its references.

    Args:
        data: JSON text written by `serialize`.

    Returns:
        The graph.

    Raises:
        GraphError: unless it is a consistent graph of a version that this release reads; with a JSON path.
    """
    head = parse_json(data)
    check_version(head, FORMAT, VERSION)
    try:
        graph = msgspec.convert(head, decodable(Graph))
    except msgspec.ValidationError as error:
        raise _locate_error(head, error) from error
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
    data = read_bytes(path, "graph")
    try:
        return deserialize(data)
    except GraphError as error:
        raise add_file_name(path, error) from error


def is_graph_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file says that it holds a graph, which may still be damaged."""
    try:
        return msgspec.json.decode(decompress(read_bytes(path, "graph")), type=decodable(_Head)).format == FORMAT
    except (GraphError, msgspec.DecodeError, UnicodeError, RecursionError):
        return False


def save(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph file with one value per line, which suits version control.

    Args:
        graph: The graph.
        path: The file; an existing one is replaced in one step.
    """
    write_document(path, serialize(graph, indent=1) + b"\n")


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a graph file."""
    return make_schema(Graph, f"modeldiagrams graph, format version {VERSION}")


def _locate_error(head: dict[str, Any], error: msgspec.ValidationError) -> GraphError:
    """Convert an error of msgspec; find the key if its path only says ``[...]`` for a mapping."""
    plain = to_graph_error(error)
    path, problem = plain.path, str(plain).removeprefix(f"{plain.path}: ")
    key = path.removeprefix("$.").split("[", 1)[0]
    if path.startswith("$.") and "[...]" in path and key in _MAPPINGS:
        item_type = next(field.type for field in msgspec.structs.fields(Graph) if field.name == key)
        for name, value in head[key].items():
            try:
                msgspec.convert({name: value}, item_type)
            except msgspec.ValidationError:
                return GraphError(path.replace("[...]", f"[{name!r}]", 1), problem)
    return plain
