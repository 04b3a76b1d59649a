"""`Graph` ⇄ JSON: the only thing that crosses a process or language border."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from modeldiagrams.errors import GraphError
from modeldiagrams.graph import FORMAT, VERSION, Graph

__all__ = ["deserialize", "digest", "load", "save", "schema", "serialize", "write_atomically"]

_PLACE = re.compile(r" - at `(?P<place>.*)`$")
_MAPPINGS = ("adjacency", "hierarchy", "tensors", "parameters")


def serialize(graph: Graph, *, indent: int = 0) -> bytes:
    """Write a graph as UTF-8 JSON. Equal graphs give equal bytes.

    Args:
        graph: What to write.
        indent: Spaces per level; 0 writes one line.

    Returns:
        The JSON text, without a final newline.
    """
    compact = msgspec.json.encode(graph)
    return msgspec.json.format(compact, indent=indent) if indent else compact


def deserialize(data: bytes | str) -> Graph:
    """Read a graph back and prove it consistent.

    Args:
        data: JSON text written by `serialize`.

    Returns:
        The graph.

    Raises:
        GraphError: for anything that is not a graph of a version this release reads, naming the place.
    """
    try:
        head = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise GraphError("$", f"expected JSON, got something else: {error}") from error
    _check_version(head)
    try:
        graph = msgspec.convert(head, Graph)
    except msgspec.ValidationError as error:
        raise _located(head, error) from error
    graph.check()
    return graph


def load(path: str | os.PathLike[str]) -> Graph:
    """Read a graph file.

    Args:
        path: A file written by `save` or ``modeldiagrams trace``.

    Returns:
        The graph.

    Raises:
        GraphError: if the file can't be read or does not hold a graph, naming file and place.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise GraphError(os.fspath(path), f"expected a readable graph file: {error.strerror or error}") from error
    try:
        return deserialize(data)
    except GraphError as error:
        raise GraphError(f"{os.fspath(path)}: {error.place}", str(error).removeprefix(f"{error.place}: ")) from error


def save(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph file, one value a line so that version control shows what changed.

    Args:
        graph: What to write.
        path: Where; an existing file is replaced in one step.
    """
    write_atomically(Path(path), serialize(graph, indent=1) + b"\n")


def digest(graph: Graph) -> str:
    """Hash of what the graph says about the model: 32 hex digits.

    What made the graph (`Provenance`) and what had to be assumed to run it do not count.
    """
    content = msgspec.to_builtins(graph)
    del content["provenance"], content["assumptions"]
    return hashlib.blake2b(msgspec.json.encode(content), digest_size=16).hexdigest()


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a graph file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"modeldiagrams graph, format version {VERSION}",
        # through JSON, because msgspec leaves tuples for default values
        **msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(Graph))),
    }


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file in one step, so that no reader ever sees half of it; makes missing folders.

    A file that holds this very data already is left alone: what depends on it is still true.
    """
    with contextlib.suppress(OSError):
        if path.read_bytes() == data:
            return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        # mkstemp makes private files; what we write is meant to be read like any other output
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink()
        raise


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
    """Turn msgspec's message into ours; where it only says ``[...]`` for a mapping, find the key."""
    text = str(error)
    match = _PLACE.search(text)
    place = match["place"] if match else "$"
    problem = text[: match.start()] if match else text
    key = place.removeprefix("$.").split("[", 1)[0]
    if place.startswith("$.") and "[...]" in place and key in _MAPPINGS:
        item_type = next(field.type for field in msgspec.structs.fields(Graph) if field.name == key)
        for name, value in head[key].items():
            try:
                msgspec.convert({name: value}, item_type)
            except msgspec.ValidationError:
                return GraphError(place.replace("[...]", f"[{name!r}]", 1), problem)
    return GraphError(place, problem)
