"""The two sides of a comparison on the command line: a file, a revision, an address or a model → a graph."""

from __future__ import annotations

import http.client
import os
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

__all__ = ["SCHEMES", "download", "git", "graph_of", "no_model", "relative"]

SCHEMES = ("http://", "https://")

_LARGEST = 10**8
"""Bytes of a graph that is read; those of the largest models have a tenth."""
_PATIENCE = 30
"""Seconds."""


def graph_of(side: str, trace: Callable[[str], Graph], folder: Path = Path()) -> Graph:
    """Get the graph that one side of a comparison names.

    Args:
        side: A graph file, `-` for stdin, ``git:REV:path``, an address of a graph file, or a model.
        trace: What runs a model.
        folder: Files and paths in revisions are relative to it.

    Raises:
        ModelDiagramsError: if there is no graph, with the place that was looked at.
    """
    if side.startswith(SCHEMES):
        return _read(side, download(side))
    if side.startswith("git:"):
        return _read(side, _from_git(side, folder))
    if side == "-":
        return _read("stdin", sys.stdin.buffer.read(_LARGEST + 1))
    if not side.endswith(".json"):
        return trace(side)
    path = folder / side
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise _too_large(side)
    return serialize.load(path)


def relative(error: ModelDiagramsError, folder: Path) -> str:
    """What an error says, without the absolute path of the documentation: pages show it."""
    return str(error).replace(f"{folder.absolute()}{os.sep}", "")


def no_model(side: str) -> Graph:
    """Where models are not run.

    Raises:
        ModelDiagramsError: that says so.
    """
    raise ModelDiagramsError(f"{side}: expected a graph file")


def _read(name: str, data: bytes) -> Graph:
    if len(data) > _LARGEST:
        raise _too_large(name)
    try:
        return serialize.deserialize(data)
    except GraphError as error:
        raise GraphError(f"{name}: {error.path}", str(error).removeprefix(f"{error.path}: ")) from error


def download(address: str) -> bytes:
    """What is at an address, up to the size of the largest graph.

    Raises:
        ModelDiagramsError: if nothing is.
    """
    try:
        with urllib.request.urlopen(address, timeout=_PATIENCE) as answer:  # noqa: S310  (http only, see above)
            return bytes(answer.read(_LARGEST + 1))
    except (OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it is the answer, too
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise ModelDiagramsError(f"{address}: expected a graph file at this address: {reason}") from error


def _from_git(side: str, folder: Path) -> bytes:
    _, revision, path = [*side.split(":", 2), "", ""][:3]
    if not revision or not path or revision.startswith("-"):
        raise ModelDiagramsError(f"{side}: expected `git:REV:path`, such as `git:v1.2:docs/model-graphs/net.json`")
    place = path if path.startswith(("./", "../")) else f"./{path}"
    return git(["cat-file", "blob", f"{revision}:{place}"], f"{side}: expected a file of that revision", folder)


def git(arguments: list[str], expected: str, folder: Path) -> bytes:
    """What git prints.

    Args:
        arguments: Of the command; a revision among them may not start with ``-``.
        expected: What an error begins with.
        folder: Where it runs.

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


def _too_large(name: str) -> ModelDiagramsError:
    return ModelDiagramsError(f"{name}: expected a graph file of at most {_LARGEST // 10**6} MB, got a larger one")
