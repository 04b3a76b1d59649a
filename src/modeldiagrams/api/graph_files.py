"""Reads graph files for commands, and protects complete ones."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from modeldiagrams.api.terminal import STDIO
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir import serialize
from modeldiagrams.ir.structure import holds_less

if TYPE_CHECKING:
    from pathlib import Path

    from modeldiagrams.ir.graph import Graph

__all__ = ["is_worse", "load_graph_file"]


def load_graph_file(graph: Path) -> Graph:
    """Load a graph from a file or stdin."""
    if graph == STDIO:
        return serialize.deserialize(sys.stdin.buffer.read())
    if graph.suffix != ".json" and (graph.suffix == ".py" or not graph.exists()):
        raise ModelDiagramsError(
            f"expected a graph file, got {graph}; trace it first: `modeldiagrams trace {graph} -o net.json`,"
            f" or use `modeldiagrams show {graph}`"
        )
    return serialize.load(graph)


def is_worse(graph: Graph, output: Path) -> bool:
    """Whether a graph would replace a more complete one, or an incomplete one a picture; if so, print a message."""
    passes = (graph.status, *(case.status for case in graph.cases))
    if all(status.state == "complete" for status in passes) or not output.is_file():
        return False
    if output.suffix == ".json":
        try:
            if not holds_less(graph, serialize.load(output)):
                return False
        except ModelDiagramsError:
            return False
    click.echo(f"{output} was not overwritten, because the new graph is less complete; --force overwrites it", err=True)
    return True
