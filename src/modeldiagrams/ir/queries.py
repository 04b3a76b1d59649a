"""What scripts ask of a graph: its methods. Each takes time in proportion to the graph, whatever its depth."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from modeldiagrams.ir.look_ups import LookUps, short_name
from modeldiagrams.ir.nodes import Flow, FunctionCall, ModuleNode, Node
from modeldiagrams.ir.query_results import Connection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.ir.query_results import ModuleRow

__all__ = ["Queries", "short_name"]


class Queries(LookUps):
    """The methods of `Graph`: those of `LookUps`, and what takes the whole graph to answer."""

    __slots__ = ()

    def connections(
        self,
        depth: int | None = 0,
        *,
        expand: Sequence[str] | str = (),
        collapse: Sequence[str] | str = (),
        functions: bool = False,
    ) -> tuple[Connection, ...]:
        """The tensors that flow between modules.

        Args:
            depth: How many levels of modules are open, as in diagrams: with 0, each module directly in the model
                stands for everything inside it. None opens all modules.
            expand: Patterns of modules, as for `module_calls`, that are open as well, with those around them; also as
                one text with commas.
            collapse: Patterns of modules that are closed in any case.
            functions: Whether function calls stand for what is inside them, as in diagrams, unless `expand` names
                them, `depth` is None, or they are around modules of an open level.

        Returns:
            One connection for each pair of nodes and kind of flow. What stays inside a closed module is left out.
        """
        shown = self.shown(depth, expand=expand, collapse=collapse, functions=functions)
        found: dict[tuple[str, str, Flow], dict[str, None]] = defaultdict(dict)
        for node in self.nodes:
            for edge in self.adjacency.get(node.id, ()):
                source, target = shown[node.id], shown[edge.to]
                if source != target:
                    found[source, target, edge.flow][edge.tensor] = None
        return tuple(
            Connection(source=source, target=target, tensors=tuple(tensors), flow=flow)
            for (source, target, flow), tensors in found.items()
        )

    def shown(
        self,
        depth: int | None,
        *,
        expand: Sequence[str] | str = (),
        collapse: Sequence[str] | str = (),
        functions: bool = False,
    ) -> dict[str, str]:
        """The box that stands for each node at a depth.

        Args:
            depth: As in `connections`. A module with one op in it stays closed, whatever the depth.
            expand: As in `connections`.
            collapse: As in `connections`.
            functions: As in `connections`.

        Returns:
            Id of a node → its own id, or that of the closed module call or function call around it, in execution order.
        """
        expand, collapse = _patterns(expand), _patterns(collapse)
        groups = self._closed_functions(depth, expand, collapse) if functions else {}
        closed = {node.id for node in self.module_calls(*collapse)} if collapse else set()
        requested: set[str] = set()
        for item in self._asked(expand):
            requested |= {item.id, *(module.id for module in self._modules_around(item))}
        open_levels: dict[str | None, int] = {None: 0}  # of modules that are open
        found: dict[str, str] = {}
        for node in self.nodes:
            parent = self.hierarchy[node.id]
            if parent is not None and parent not in open_levels:
                found[node.id] = found[parent]
                continue
            found[node.id] = groups.get(node.id, node.id)
            if node.id in groups:
                continue
            level = open_levels[parent] + 1 + (len(self.functions_around(node)) if functions else 0)
            is_asked = depth is None or level <= depth or node.id in requested
            if is_asked and node.id not in closed and self._is_openable(node.id):
                open_levels[node.id] = level
        return found

    def between(self, source: Node | str, target: Node | str) -> tuple[Node, ...]:
        """Every node on any path from one node to another.

        Args:
            source: A node or its id. A module call stands for everything inside it.
            target: Likewise.

        Returns:
            Inputs, ops, outputs and weights in execution order, both ends included; nothing if there is no path.
        """
        reached = self._inside(self._id(source))
        for node in self.nodes:
            if node.id in reached:
                reached |= {edge.to for edge in self.adjacency.get(node.id, ())}
        leading = self._inside(self._id(target))
        for node in reversed(self.nodes):
            if any(edge.to in leading for edge in self.adjacency.get(node.id, ())):
                leading.add(node.id)
        return tuple(node for node in self.nodes if node.id in reached and node.id in leading)

    def module_rows(self) -> list[ModuleRow]:
        """Every module call as a row of a table, e.g. for ``pandas.DataFrame(graph.module_rows())``.

        Returns:
            Rows in execution order; the numbers of a module include the modules inside it.
        """
        rows: list[ModuleRow] = []
        levels: dict[str | None, int] = {None: 0}
        for node in self._modules.values():
            levels[node.id] = levels[self.hierarchy[node.id]] + 1
            rows.append(
                {
                    "id": node.id,
                    "path": node.path,
                    "call": node.call,
                    "class_name": short_name(node.class_),
                    "level": levels[node.id],
                    "parameters": node.parameters.total,
                    "own_parameters": node.parameters.own,
                    "trainable_parameters": node.parameters.trainable,
                    "flops": node.flops,
                    "activation_bytes": node.activation_bytes,
                    "time_ns": node.time_ns,
                    "inputs": {name: self.tensors[tensor].shape for name, tensor in node.inputs.items()},
                    "outputs": {name: self.tensors[tensor].shape for name, tensor in node.outputs.items()},
                }
            )
        return rows

    def _asked(self, patterns: Sequence[str]) -> tuple[ModuleNode | FunctionCall, ...]:
        return (*self.module_calls(*patterns), *self.function_calls(*patterns)) if patterns else ()

    def _modules_around(self, item: ModuleNode | FunctionCall) -> tuple[ModuleNode, ...]:
        if isinstance(item, ModuleNode):
            return self.ancestors(item)
        outermost = (item, *self.functions_around(item))[-1]
        return () if outermost.parent is None else (self._modules[outermost.parent], *self.ancestors(outermost.parent))

    def _closed_functions(self, depth: int | None, expand: Sequence[str], collapse: Sequence[str]) -> dict[str, str]:
        """Id of a node → the outermost closed function call around it in its module call."""
        opened = {call.id for call in (self.function_calls(*expand) if expand else ())}
        for item in self._asked(expand):
            for module in (item, *self._modules_around(item)):
                opened |= {call.id for call in self.functions_around(module)}
        closed = {call.id for call in (self.function_calls(*collapse) if collapse else ())}
        opened |= {call.id for call in self._functions_with_modules() if depth is None or self._level(call) <= depth}
        is_closed = {name: name in closed or not (depth is None or name in opened) for name in self.functions}
        found: dict[str, str] = {}
        for node in self.nodes:
            around = [call.id for call in self.functions_around(node) if is_closed[call.id]]
            if around:
                found[node.id] = around[-1]
        return found

    def _functions_with_modules(self) -> tuple[FunctionCall, ...]:
        """Calls directly around a module call, which open with the modules of their level."""
        return tuple(
            {call.id: call for node in self._modules.values() for call in self.functions_around(node)[:1]}.values()
        )

    def _level(self, item: ModuleNode | FunctionCall) -> int:
        around = self.functions_around(item)
        outermost = (item, *around)[-1]
        parent = outermost.parent if isinstance(outermost, FunctionCall) else self.hierarchy[outermost.id]
        return 1 + len(around) + (0 if parent is None else self._level(self._modules[parent]))


def _patterns(given: Sequence[str] | str) -> Sequence[str]:
    """The patterns of an option: one text is a sequence of letters, too, which nobody means."""
    return [pattern.strip() for pattern in given.split(",")] if isinstance(given, str) else given
