"""A server of the Model Context Protocol, which lets AI agents read the graphs in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import mcp.types
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from modeldiagrams.api import questions
from modeldiagrams.common.files import GRAPHS, get_graph_name
from modeldiagrams.common.version import read_version
from modeldiagrams.errors import GraphError, ModelDiagramsError
from modeldiagrams.ir.describing.text import describe
from modeldiagrams.ir.serialize import is_graph_file, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modeldiagrams.ir.graph import Graph

__all__ = ["make_server"]

_GUIDE = (
    "Graphs of PyTorch models: which tensor flows from where to where, and which module call holds what. Call"
    " list_graphs first, then describe_graph; the other tools answer questions about nodes by their ids."
)
T = TypeVar("T")


def make_server(folder: Path) -> MCPServer:
    """Make a server for a folder of graph files; it only reads, and only in this folder."""
    server = MCPServer("modeldiagrams", version=read_version(), instructions=_GUIDE)
    graphs = _Graphs(folder)
    read_only = mcp.types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for tool in (
        graphs.list_graphs,
        graphs.describe_graph,
        graphs.find_nodes,
        graphs.find_path,
        graphs.find_weight_uses,
        graphs.list_costs,
        graphs.list_changes,
    ):
        server.tool(annotations=read_only)(tool)
    return server


class _Graphs:
    """The tools; their docstrings are what agents read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list_graphs(self) -> list[str]:
        """List the names of all graphs."""
        return sorted(name for name, file in self._files().items() if is_graph_file(file))

    def describe_graph(self, graph: str) -> str:
        """Describe a graph as Markdown: modules, ops, what each reads, shapes, parameters, repeats, source lines.

        Args:
            graph: A name of list_graphs.
        """
        return self._answer(lambda: describe(self._load(graph)))

    def find_nodes(self, graph: str, pattern: str) -> dict[str, Any]:
        """Find the ids of the nodes that a pattern matches: paths, class names or ops, such as `*.attn` or softmax."""
        return self._answer(lambda: questions.find_nodes(self._load(graph), pattern))

    def find_path(self, graph: str, source: str, target: str) -> dict[str, Any]:
        """Find a shortest path between two nodes, and all nodes between them; both are empty if there is none."""
        return self._answer(lambda: questions.find_path(self._load(graph), source, target))

    def find_weight_uses(self, graph: str, weight: str) -> dict[str, Any]:
        """Find the ops and modules that use a parameter or buffer, by its dotted name."""
        return self._answer(lambda: questions.find_uses(self._load(graph), weight))

    def list_costs(self, graph: str, depth: int = 2) -> dict[str, Any]:
        """List parameters, FLOPs and bytes of activations of the model and its modules, some levels deep."""
        return self._answer(lambda: questions.list_costs(self._load(graph), depth))

    def list_changes(self, before: str, after: str) -> dict[str, Any]:
        """List what changed from one graph to another."""
        return self._answer(lambda: questions.list_changes_since(self._load(before), self._load(after)))

    def _answer(self, answer: Callable[[], T]) -> T:
        try:
            return answer()
        except (ModelDiagramsError, OSError) as error:
            raise ToolError(str(error)) from error

    def _files(self) -> dict[str, Path]:
        """Map names to the files that may be graphs."""
        return {
            get_graph_name(path): path
            for ending in reversed(GRAPHS)  # the first one counts
            for path in self._folder.glob(f"*{ending}")
            if path.is_file()
        }

    def _load(self, name: str) -> Graph:
        files = self._files()
        if name not in files:
            raise GraphError(name, f"there is no such graph; expected one of {', '.join(self.list_graphs()[:20])}")
        return load(files[name])
