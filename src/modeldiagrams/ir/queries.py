"""The methods of `Graph`, with which scripts query it. Each takes linear time, whatever the depth of the graph."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, TypedDict

from modeldiagrams.common.class_facts import get_full_name
from modeldiagrams.common.globs import NameIndex, compile_globs
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.ids import escape_id
from modeldiagrams.ir.nodes import Edge, Flow, FunctionCall, InputNode, ModuleNode, Node, OutputNode, Struct, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Connection", "ModuleRow", "Queries", "short_name"]

Shape = tuple[int | str, ...] | None


class Connection(Struct, frozen=True, kw_only=True):
    """The tensors that flow from one node to another at some depth.

    Attributes:
        source: Id of the node that makes the tensors, or of the closed module call or function call around it.
        target: Id of the node that reads the tensors, or of the closed module call or function call around it.
        tensors: Ids of the tensors.
        flow: As in the graph format: ``data``, ``shape`` or ``inferred``.
    """

    source: str
    target: str
    tensors: tuple[str, ...]
    flow: Flow = "data"


class ModuleRow(TypedDict):
    """One module call as a row of a table.

    Attributes:
        id: Id of the module call.
        path: Dotted path from the model.
        call: 1 for the first call of this module.
        class_name: Short name, as in diagrams.
        level: 1 directly in the model.
        parameters: Number of parameters of the module and the modules inside it.
        own_parameters: Number of parameters of the module itself. A sum over first calls counts only tied parameters
            more than once.
        trainable_parameters: Part of `parameters` that requires a gradient.
        flops: Floating point operations of the call; None when not counted.
        activation_bytes: Bytes of all op outputs of the call; None when not counted.
        time_ns: Sum of the times of its ops in nanoseconds; None when not measured.
        inputs: Argument name → shape.
        outputs: Path in the returned value → shape.
    """

    id: str
    path: str
    call: int
    class_name: str
    level: int
    parameters: int
    own_parameters: int
    trainable_parameters: int
    flops: int | None
    activation_bytes: int | None
    time_ns: int | None
    inputs: dict[str, Shape]
    outputs: dict[str, Shape]


class Queries:
    """The methods of `Graph`, which has the fields."""

    __slots__ = ()

    nodes: tuple[Node, ...]
    adjacency: dict[str, tuple[Edge, ...]]
    hierarchy: dict[str, str | None]
    tensors: dict[str, TensorSpec]
    functions: dict[str, FunctionCall]

    def node(self, name: str) -> Node:
        """Find a node by its id. A module's path is the id of its first call.

        Args:
            name: An id such as ``encoder.layers.0``, ``encoder.layers.0#2``, ``input:x`` or ``encoder/add``.

        Returns:
            The node.

        Raises:
            GraphError: if there is none; suggests the nearest id.
        """
        for known in (name, escape_id(name)):
            if known in self.by_id:
                return self.by_id[known]
        near = difflib.get_close_matches(name, self.by_id, n=1)
        raise GraphError(name, f"no node has this id{f'; did you mean {near[0]!r}?' if near else ''}")

    def parent(self, node: Node | str) -> ModuleNode | None:
        """The module call that directly contains a node.

        Args:
            node: A node or its id.

        Returns:
            The module call; None for a node directly in the model.
        """
        return next(iter(self.ancestors(node)), None)

    def ancestors(self, node: Node | str) -> tuple[ModuleNode, ...]:
        """All module calls that contain a node.

        Args:
            node: A node or its id.

        Returns:
            The module calls, the innermost first.
        """
        found = []
        at = self.hierarchy[self._id(node)]
        while at is not None:
            found.append(self._modules[at])
            at = self.hierarchy[at]
        return tuple(found)

    def children(self, module: Node | str | None = None) -> tuple[Node, ...]:
        """The nodes directly inside a module call.

        Args:
            module: A module call or its id; None is the model.

        Returns:
            Module calls and other nodes in execution order.
        """
        return tuple(self._children.get(None if module is None else self._id(module), ()))

    def descendants(self, module: Node | str) -> tuple[Node, ...]:
        """The nodes inside a module call, at any depth.

        Args:
            module: A module call or its id.

        Returns:
            Module calls and other nodes in execution order.
        """
        found: list[Node] = []
        todo = [*self.children(module)]
        while todo:
            node = todo.pop()
            found.append(node)
            todo += self._children.get(node.id, ())
        return tuple(sorted(found, key=lambda node: self._order[node.id]))

    def module_calls(self, *wanted: str | type) -> tuple[ModuleNode, ...]:
        """Module calls by path or class.

        Args:
            *wanted: Classes (`torch.nn.Linear`, without subclasses, which graphs don't know), and patterns. A pattern
                is compared with the whole path (``encoder.layers.0``), the class's name (``Linear``) and its full name
                (``torch.nn.modules.linear.Linear``). ``*`` stands for anything, dots included, and ``?`` for one
                character. Without arguments, all module calls match.

        Returns:
            The module calls that match any argument, in execution order.
        """
        classes = {get_full_name(item) for item in wanted if isinstance(item, type)}
        matches = compile_globs(item for item in (wanted or "*") if isinstance(item, str))
        return tuple(
            node
            for node in self._modules.values()
            if node.class_ in classes or any(map(matches, (node.path, short_name(node.class_), node.class_)))
        )

    def function_calls(self, *wanted: str) -> tuple[FunctionCall, ...]:
        """Function calls that are groups of ops, and ``record_function`` scopes. They are not module calls.

        Args:
            *wanted: Patterns, as for `module_calls`, of the short name (``rotate_half``), the full name
                (``mypkg.rope.rotate_half``) or the id. Without arguments, all function calls match.

        Returns:
            The function calls that match any argument, in execution order.
        """
        matches = compile_globs(wanted or "*")
        return tuple(
            call for call in self.functions.values() if any(map(matches, (call.name, call.function or "", call.id)))
        )

    def matching(self, pattern: str) -> tuple[str, ...]:
        """Ids of the nodes that an author's pattern matches.

        Args:
            pattern: A pattern of module calls and function calls, as for `module_calls` and `function_calls`. If it
                matches none, a pattern of other nodes: an id (``encoder/add``, ``input:x``), a name (``x``) or an
                op's short name (``softmax``).

        Returns:
            Ids, in execution order.
        """
        if found := self._call_index.find(pattern):
            return found
        if pattern in self.by_id:  # a later call of a module
            return (pattern,)
        return self._other_index.find(pattern)

    @cached_property
    def call_names(self) -> tuple[str, ...]:
        """What patterns of module calls and function calls may match, modules first."""
        calls = [*self._modules.values()]
        modules = [(node.path, short_name(node.class_).strip("_"), node.class_) for node in calls]
        functions = [(call.name, call.function or call.name) for call in self.functions.values()]
        return tuple(dict.fromkeys(name for names in (*modules, *functions) for name in names))

    @cached_property
    def _call_index(self) -> NameIndex:
        modules = {node.id: (node.path, short_name(node.class_), node.class_) for node in self._modules.values()}
        functions = {call.id: (call.name, call.function or "", call.id) for call in self.functions.values()}
        return NameIndex(modules | functions)

    @cached_property
    def _other_index(self) -> NameIndex:
        return NameIndex(self.other_names)

    @cached_property
    def other_names(self) -> dict[str, tuple[str, ...]]:
        """Id of a node that is not a module call → its names."""
        others = (node for node in self.nodes if not isinstance(node, ModuleNode))
        return {
            node.id: tuple({node.id: 0, node.name or node.id: 0, short_name(node.name or node.id): 0})
            for node in others
        }

    def functions_around(self, node: Node | FunctionCall | str) -> tuple[FunctionCall, ...]:
        """The function calls around a node, inside its module call.

        Args:
            node: A node, a function call, or the id of one.

        Returns:
            The function calls, the innermost first.
        """
        if not isinstance(node, FunctionCall):
            node = (
                self.functions[node] if isinstance(node, str) and node in self.functions else self.by_id[self._id(node)]
            )
        if isinstance(node, FunctionCall):
            at = node.parent
        else:
            at = None if isinstance(node, InputNode | OutputNode) else node.scope
        found = []
        while at in self.functions:
            found.append(self.functions[at])
            at = self.functions[at].parent
        return tuple(found)

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
            depth: How many levels of modules are open, as in diagrams. With 0, each module directly in the model
                represents everything inside it. None opens all modules.
            expand: Patterns of modules to open, as for `module_calls`, with the modules around them; a list, or one
                text with commas.
            collapse: Patterns of modules to close in any case.
            functions: Whether function calls represent their content, as in diagrams, unless `expand` names them,
                `depth` is None, or they contain modules of an open level.

        Returns:
            One connection for each pair of nodes and kind of flow, without tensors that stay inside a closed module.
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
        """The box that represents each node at a depth.

        Args:
            depth: As in `connections`. A module that contains a single op stays closed.
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
            source: A node or its id. A module call represents everything inside it.
            target: Likewise.

        Returns:
            Inputs, ops, outputs and weights in execution order, including both ends; empty if there is no path.
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

    @cached_property
    def by_id(self) -> dict[str, Node]:
        """Id → node."""
        return {node.id: node for node in self.nodes}

    def position(self, name: str) -> int:
        """Position of a node in execution order."""
        return self._order[name]

    @cached_property
    def _modules(self) -> dict[str, ModuleNode]:
        return {node.id: node for node in self.nodes if isinstance(node, ModuleNode)}

    @cached_property
    def _order(self) -> dict[str, int]:
        return {node.id: i for i, node in enumerate(self.nodes)}

    @cached_property
    def _children(self) -> dict[str | None, list[Node]]:
        found: dict[str | None, list[Node]] = defaultdict(list)
        for node in self.nodes:
            found[self.hierarchy[node.id]].append(node)
        return dict(found)

    def _id(self, node: Node | str) -> str:
        return self.node(node if isinstance(node, str) else node.id).id

    def _inside(self, name: str) -> set[str]:
        """Ids of the nodes that edges can reach: a module's descendants, or the node itself."""
        return {name, *(node.id for node in self.descendants(name))} - self._modules.keys()

    def _is_openable(self, name: str) -> bool:
        inside = self._children.get(name, ())
        return len(inside) > 1 or any(isinstance(node, ModuleNode) for node in inside)

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
        """Calls that directly contain a module call: they open with the modules of their level."""
        return tuple(
            {call.id: call for node in self._modules.values() for call in self.functions_around(node)[:1]}.values()
        )

    def _level(self, item: ModuleNode | FunctionCall) -> int:
        around = self.functions_around(item)
        outermost = (item, *around)[-1]
        parent = outermost.parent if isinstance(outermost, FunctionCall) else self.hierarchy[outermost.id]
        return 1 + len(around) + (0 if parent is None else self._level(self._modules[parent]))


def short_name(name: str) -> str:
    """``torch.nn.modules.linear.Linear`` → ``Linear``, ``torch.Tensor.__getitem__`` → ``getitem``: as in diagrams."""
    last = re.split(r"[.:]", name)[-1]
    return last.strip("_") or last


def _patterns(given: Sequence[str] | str) -> Sequence[str]:
    """Split one text with commas into patterns."""
    return [pattern.strip() for pattern in given.split(",")] if isinstance(given, str) else given
