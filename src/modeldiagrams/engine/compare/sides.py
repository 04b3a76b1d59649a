"""Loads the two sides of a comparison: graphs of files, revisions, addresses or models."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from modeldiagrams.common.files import GRAPHS
from modeldiagrams.errors import GraphError, ModelDiagramsError
from modeldiagrams.ir import serialize

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.ir.graph import Graph

__all__ = ["SCHEMES", "Downloaded", "download", "git", "graph_of", "refuse_model", "relative"]

SCHEMES = ("http://", "https://")

_LARGEST = 10**8
"""The maximum size of a graph in bytes; the largest models need a tenth."""
_PATIENCE = 30
"""Seconds."""


class Downloaded(NamedTuple):
    """A file from an address."""

    content: bytes
    address: str
    """Where it is after all redirects."""


def graph_of(side: str, trace: Callable[[str], Graph], folder: Path = Path()) -> Graph:
    """Get the graph that one side of a comparison names, without samples of what flowed, which differ in any case.

    Args:
        side: A graph file, `-` for stdin, ``git:REV:path``, the address of a graph file, or a model.
        trace: Traces a model.
        folder: The folder that files and paths in revisions are relative to.

    Raises:
        ModelDiagramsError: if there is no graph, with its location.
    """
    return msgspec.structs.replace(_graph_of(side, trace, folder), samples=None)


def _graph_of(side: str, trace: Callable[[str], Graph], folder: Path) -> Graph:
    if side.startswith(SCHEMES):
        return _read(side, download(side).content)
    if side.startswith("git:"):
        return _read(side, _read_from_git(side, folder))
    if side == "-":
        return _read("stdin", sys.stdin.buffer.read(_LARGEST + 1))
    if not side.endswith(GRAPHS):
        return trace(side)
    path = folder / side
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise _refuse_size(side)
    return serialize.load(path)


def relative(error: ModelDiagramsError, folder: Path) -> str:
    """Return an error's message without the absolute path of the documentation, because pages show it."""
    return str(error).replace(f"{folder.absolute()}{os.sep}", "")


def refuse_model(side: str) -> Graph:
    """Refuse to run a model.

    Raises:
        ModelDiagramsError: always.
    """
    raise ModelDiagramsError(f"{side}: expected a graph file")


def _read(name: str, data: bytes) -> Graph:
    if len(data) > _LARGEST:
        raise _refuse_size(name)
    try:
        return serialize.deserialize(data)
    except GraphError as error:
        raise GraphError(f"{name}: {error.path}", str(error).removeprefix(f"{error.path}: ")) from error


def download(address: str, what: str = "a graph file") -> Downloaded:
    """Download a file, up to the maximum size of a graph.

    Args:
        address: Its address.
        what: What it should be, for errors.

    Raises:
        ModelDiagramsError: if this fails, or if the file is too large.
    """
    try:
        with urllib.request.urlopen(address, timeout=_PATIENCE) as answer:  # noqa: S310  (http only, see above)
            content, final = bytes(answer.read(_LARGEST + 1)), answer.url
    except (OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it is also the response
        reason = str(error.reason if isinstance(error, urllib.error.URLError) else error).partition("\n")[0]
        raise ModelDiagramsError(f"{address}: expected {what} at this address: {reason}") from error
    if len(content) > _LARGEST:
        raise _refuse_size(address, what)
    return Downloaded(content, final)


def _read_from_git(side: str, folder: Path) -> bytes:
    _, revision, path = [*side.split(":", 2), "", ""][:3]
    if not revision or not path or revision.startswith("-"):
        raise ModelDiagramsError(f"{side}: expected `git:REV:path`, such as `git:v1.2:docs/model-graphs/net.json`")
    place = path if path.startswith(("./", "../")) else f"./{path}"
    return git(["cat-file", "blob", f"{revision}:{place}"], f"{side}: expected a file of that revision", folder)


def git(arguments: list[str], expected: str, folder: Path) -> bytes:
    """Run git and return its output.

    Args:
        arguments: The arguments; a revision among them must not start with ``-``.
        expected: The beginning of an error.
        folder: The working directory.

    Raises:
        ModelDiagramsError: if it fails.
    """
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *arguments],  # noqa: S607
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired as error:
        raise ModelDiagramsError(f"{expected}: git did not answer within {_PATIENCE} s") from error
    except FileNotFoundError as error:
        raise ModelDiagramsError(f"{expected}, and the program git to be installed") from error
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0].removeprefix("fatal: ")
        raise ModelDiagramsError(f"{expected}: {reason}")
    return done.stdout


def _refuse_size(name: str, what: str = "a graph file") -> ModelDiagramsError:
    return ModelDiagramsError(f"{name}: expected {what} of at most {_LARGEST // 10**6} MB, got a larger one")
