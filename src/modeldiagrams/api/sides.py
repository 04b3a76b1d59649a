"""The two sides of a comparison on the command line: a file, a revision, an address or a model → a graph."""

from __future__ import annotations

import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.errors import GraphError, ModelDiagramsError
from modeldiagrams.ir import serialize

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.ir.graph import Graph

__all__ = ["graph_of"]

_LARGEST = 10**8
"""Bytes of a graph that is read; those of the largest models have a tenth."""
_PATIENCE = 30
"""Seconds."""


def graph_of(side: str, trace: Callable[[str], Graph]) -> Graph:
    """Get the graph that one side of a comparison names.

    Args:
        side: A graph file, `-` for stdin, ``git:REV:path``, an address of a graph file, or a model.
        trace: What runs a model.

    Raises:
        ModelDiagramsError: if there is no graph, with the place that was looked at.
    """
    if side.startswith(("http://", "https://")):
        return _read(side, _download(side))
    if side.startswith("git:"):
        return _read(side, _from_git(side))
    if side == "-":
        return _read("stdin", sys.stdin.buffer.read(_LARGEST + 1))
    if not side.endswith(".json"):
        return trace(side)
    path = Path(side)
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise _too_large(side)
    return serialize.load(path)


def _read(name: str, data: bytes) -> Graph:
    if len(data) > _LARGEST:
        raise _too_large(name)
    try:
        return serialize.deserialize(data)
    except GraphError as error:
        raise GraphError(f"{name}: {error.path}", str(error).removeprefix(f"{error.path}: ")) from error


def _download(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=_PATIENCE) as answer:  # noqa: S310  (http only, see above)
            return bytes(answer.read(_LARGEST + 1))
    except (OSError, ValueError) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it is the answer, too
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise ModelDiagramsError(f"{address}: expected a graph file at this address: {reason}") from error


def _from_git(side: str) -> bytes:
    _, revision, path = [*side.split(":", 2), "", ""][:3]
    if not revision or not path or revision.startswith("-"):
        raise ModelDiagramsError(f"{side}: expected `git:REV:path`, such as `git:v1.2:docs/model-graphs/net.json`")
    # relative to the current folder, as everything else on the command line
    place = path if path.startswith(("./", "../")) else f"./{path}"
    try:
        done = subprocess.run(["git", "show", f"{revision}:{place}"], capture_output=True, check=False)  # noqa: S603, S607
    except FileNotFoundError as error:
        raise ModelDiagramsError(f"{side}: expected the program git to be installed") from error
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0].removeprefix("fatal: ")
        raise ModelDiagramsError(f"{side}: expected a file of that revision: {reason}")
    return done.stdout


def _too_large(name: str) -> ModelDiagramsError:
    return ModelDiagramsError(f"{name}: expected a graph file of at most {_LARGEST // 10**6} MB, got a larger one")
