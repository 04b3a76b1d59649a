"""An oracle for edges: autograd. It shares no code with the tracer.

It runs the plain model and clones the outputs of every leaf module call. From the outputs of a leaf call it walks the
autograd graph back to the nearest clones: the outputs of the leaf calls that fed it. (It doesn't start at the inputs,
because a call may read only the dtype of some.) A traced graph must have the same edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils._pytree import tree_leaves, tree_map_only

from modeldiagrams.ir.graph import Graph, ModuleNode

Edge = tuple[str, str]


class Agreement(NamedTuple):
    """How two sets of edges compare."""

    recall: float
    """Share of the witnessed edges that were traced."""
    precision: float
    """Share of the traced edges that were witnessed."""
    witnessed: int
    missing: set[Edge]
    invented: set[Edge]


def differentiable(model: nn.Module, inputs: dict[str, torch.Tensor]) -> tuple[nn.Module, dict[str, torch.Tensor]]:
    """The model and its inputs, with gradients enabled."""
    model.requires_grad_(True)
    return model, {
        name: tensor.requires_grad_() if tensor.is_floating_point() else tensor for name, tensor in inputs.items()
    }


def agreement(graph: Graph, model: nn.Module, inputs: dict[str, torch.Tensor]) -> Agreement:
    """Compare a traced graph with the autograd graph of another forward pass of the model."""
    witness = Witness(model)
    witness.run(inputs)
    # autograd has no edges where no gradient flows (rotary embeddings)
    traced = {edge for edge in leaf_edges(graph) if witness.seen.issuperset(edge)}
    both = len(traced & witness.edges)
    return Agreement(
        recall=both / max(1, len(witness.edges)),
        precision=both / max(1, len(traced)),
        witnessed=len(witness.edges),
        missing=witness.edges - traced,
        invented=traced - witness.edges,
    )


class _Call:
    """A running module call."""

    def __init__(self, name: str, path: str):
        self.name = name
        self.path = path
        self.is_leaf = True


class Witness:
    """Edges between leaf module calls, by autograd. Calls are named as in a graph: ``encoder.layers.0#2``."""

    def __init__(self, model: nn.Module):
        self.edges: set[Edge] = set()
        self.seen: set[str] = set()
        """Leaf calls whose output has a gradient."""
        self._model = model
        self._paths = {module: path for path, module in model.named_modules()}
        self._counts: dict[str, int] = {}
        self._stack: list[_Call] = []
        self._clones: dict[Any, str] = {}

    def run(self, inputs: dict[str, torch.Tensor]) -> None:
        """Run the model once with hooks, and remove them."""
        # global hooks also run for modules made inside forward
        before = register_module_forward_pre_hook(self._before)
        after = register_module_forward_hook(self._after)
        try:
            self._model(**inputs)
        finally:
            before.remove()
            after.remove()

    def _before(self, module: nn.Module, _args: Any) -> None:
        parent = self._stack[-1].path if self._stack else ""
        if self._stack:
            self._stack[-1].is_leaf = False
        if module not in self._paths:
            made = module.named_modules(prefix=f"{parent}.{type(module).__name__}".lstrip("."))
            self._paths |= {inner: path for path, inner in made if inner not in self._paths}
        path = self._paths[module]
        n = self._counts[path] = self._counts.get(path, 0) + 1
        self._stack.append(_Call(path if n == 1 else f"{path}#{n}", path))

    def _after(self, _module: nn.Module, _args: Any, output: Any) -> Any:
        call = self._stack.pop()
        if not call.is_leaf:
            return output
        made = [leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor)]
        self.edges |= {(source, call.name) for source in self._feeding_calls(tensor.grad_fn for tensor in made)}

        def clone(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.grad_fn is None:
                return tensor
            cloned = tensor.clone()
            self._clones[cloned.grad_fn] = call.name
            self.seen.add(call.name)
            return cloned

        return tree_map_only(torch.Tensor, clone, output)

    def _feeding_calls(self, functions: Iterable[Any]) -> set[str]:
        pending, visited, found = list(functions), set(), set()
        while pending:
            function = pending.pop()
            if function in self._clones:
                found.add(self._clones[function])
            elif function is not None and function not in visited:
                visited.add(function)
                pending += [following for following, _ in function.next_functions]
        return found


def leaf_edges(graph: Graph) -> set[Edge]:
    """The edges of a graph from leaf call to leaf call, also through ops outside of leaf calls.

    Only along values that can carry a gradient, which indices and masks can't.
    """
    calls = {node.id for node in graph.nodes if isinstance(node, ModuleNode)}
    leaves = calls - {graph.hierarchy[call] for call in calls}
    inside: dict[str, list[str]] = {leaf: [] for leaf in leaves}
    for node, parent in graph.hierarchy.items():
        if parent in leaves:
            inside[parent].append(node)
    return {(leaf, target) for leaf in leaves for target in _reached_leaves(graph, inside[leaf], leaves)}


def _reached_leaves(graph: Graph, start: list[str], leaves: set[str]) -> set[str]:
    visited, found = set(start), set()
    pending = [target for node in start for target in _following(graph, node)]
    while pending:
        node = pending.pop()
        if node in visited:
            continue
        visited.add(node)
        parent = graph.hierarchy[node]
        if parent in leaves:
            found.add(parent)
        else:
            pending += _following(graph, node)
    return found


def _following(graph: Graph, node: str) -> list[str]:
    edges = graph.adjacency.get(node, ())
    return [edge.to for edge in edges if edge.flow == "data" and _is_continuous(graph, edge.tensor)]


def _is_continuous(graph: Graph, tensor: str) -> bool:
    return graph.tensors[tensor].dtype.startswith(("float", "bfloat", "complex"))
