"""Checks that what a `Graph` says about ways and uncalled modules holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modeldiagrams.errors import GraphError
from modeldiagrams.ir.graph import ModuleNode

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Graph

__all__ = ["check_ways"]

_SOURCE = re.compile(r"[^\n]+:[1-9]\d*")


def check_ways(graph: Graph) -> None:
    """Check the places of ways, their sides, and the paths of uncalled modules.

    Raises:
        GraphError: for the first thing that doesn't hold, with its JSON path.
    """
    for i, way in enumerate(graph.ways):
        if not _SOURCE.fullmatch(way.source):
            raise GraphError(f"$.ways[{i}].source", f"expected file:line, got {way.source!r}")
        if not way.sides:
            raise GraphError(f"$.ways[{i}].sides", "expected at least one side, got none")
    called = {node.path for node in graph.nodes if isinstance(node, ModuleNode)}
    paths: set[str] = set()
    for i, module in enumerate(graph.uncalled):
        path = f"$.uncalled[{i}].path"
        if module.path in called:
            raise GraphError(path, f"expected a module that no pass called, got {module.path!r}, which was called")
        if module.path in paths or not module.path:
            raise GraphError(path, f"expected a path of its own, got {module.path!r}")
        paths.add(module.path)
