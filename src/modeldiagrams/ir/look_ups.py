"""What scripts look up in a graph: nodes, what is around them and inside of them."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from functools import cached_property

from modeldiagrams.errors import GraphError
from modeldiagrams.ir.nodes import Edge, FunctionCall, InputNode, ModuleNode, Node, OutputNode, TensorSpec

__all__ = ["LookUps", "short_name"]


class LookUps:
    """The first half of the methods of `Graph`; `Graph` has the fields."""

    __slots__ = ()

    nodes: tuple[Node, ...]
    adjacency: dict[str, tuple[Edge, ...]]
    hierarchy: dict[str, str | None]
    tensors: dict[str, TensorSpec]
    functions: dict[str, FunctionCall]

    def node(self, name: str) -> Node:
        """Find a node by its id. A module's path is the id of its first call.

        Args:
            name: Such as ``encoder.layers.0``, ``encoder.layers.0#2``, ``input:x`` or ``encoder/add``.

        Returns:
            The node.

        Raises:
            GraphError: if there is none, with the nearest id.
        """
        if name in self._by_id:
            return self._by_id[name]
        near = difflib.get_close_matches(name, self._by_id, n=1)
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
                character. Without any, all module calls match.

        Returns:
            Those that match any of them, in execution order.
        """
        classes = {f"{item.__module__}.{item.__qualname__}" for item in wanted if isinstance(item, type)}
        patterns = [_regex(item) for item in (wanted or "*") if isinstance(item, str)]
        matches = re.compile("|".join(patterns), re.DOTALL).fullmatch
        return tuple(
            node
            for node in self._modules.values()
            if node.class_ in classes or any(map(matches, (node.path, short_name(node.class_), node.class_)))
        )

    def function_calls(self, *wanted: str) -> tuple[FunctionCall, ...]:
        """Calls of functions that are groups of ops, and scopes of ``record_function``. They are not module calls.

        Args:
            *wanted: Patterns, as for `module_calls`, of the short name (``rotate_half``), the full name
                (``mypkg.rope.rotate_half``) or the id. Without any, all function calls match.

        Returns:
            Those that match any of them, in execution order.
        """
        matches = re.compile("|".join(map(_regex, wanted or "*")), re.DOTALL).fullmatch
        return tuple(
            call for call in self.functions.values() if any(map(matches, (call.name, call.function or "", call.id)))
        )

    def matching(self, pattern: str) -> tuple[str, ...]:
        """Ids of the nodes that an author's pattern matches.

        Args:
            pattern: Of module calls and function calls, as for `module_calls` and `function_calls`. If it matches
                none of them, of other nodes: their id (``encoder/add``, ``input:x``), their name (``x``) or an op's
                short name (``softmax``).

        Returns:
            Ids, in execution order.
        """
        modules, functions = self.module_calls(pattern), self.function_calls(pattern)
        if modules or functions:
            return (*(node.id for node in modules), *(call.id for call in functions))
        if pattern in self._by_id:  # a later call of a module
            return (pattern,)
        matches = re.compile(_regex(pattern), re.DOTALL).fullmatch
        return tuple(name for name, names in self.other_names.items() if any(map(matches, names)))

    @cached_property
    def other_names(self) -> dict[str, tuple[str, ...]]:
        """Id of a node that is no module call → the names that it is known by."""
        others = (node for node in self.nodes if not isinstance(node, ModuleNode))
        return {
            node.id: tuple({node.id: 0, node.name or node.id: 0, short_name(node.name or node.id): 0})
            for node in others
        }

    def functions_around(self, node: Node | FunctionCall | str) -> tuple[FunctionCall, ...]:
        """The function calls around a node in its module call.

        Args:
            node: A node, a function call, or the id of one.

        Returns:
            The function calls, the innermost first; none beyond the node's parent.
        """
        if not isinstance(node, FunctionCall):
            node = (
                self.functions[node]
                if isinstance(node, str) and node in self.functions
                else self._by_id[self._id(node)]
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

    @property
    def by_id(self) -> dict[str, Node]:
        """Id → node."""
        return self._by_id

    def position(self, name: str) -> int:
        """Position of a node in execution order."""
        return self._order[name]

    @cached_property
    def _by_id(self) -> dict[str, Node]:
        return {node.id: node for node in self.nodes}

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


def short_name(name: str) -> str:
    """``torch.nn.modules.linear.Linear`` → ``Linear``, ``torch.Tensor.__getitem__`` → ``getitem``: as in diagrams."""
    last = re.split(r"[.:]", name)[-1]
    return last.strip("_") or last


def _regex(pattern: str) -> str:
    """The viewer's rule, in `viewer/src/view/patterns.ts`."""
    # several stars in a row would take a time that grows with a power of the name's length
    once = re.sub(r"\*+", "*", pattern)
    return "".join({"*": ".*", "?": "."}.get(character, re.escape(character)) for character in once)
