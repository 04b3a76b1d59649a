"""An oracle for paths from inputs to outputs: perturb an input, run again, compare outputs. It uses no tracing."""

from __future__ import annotations

import copy

import torch

from modeldiagrams.ir.graph import Graph, InputNode, OutputNode

_TRIALS = 2


def outputs(model, args) -> dict[str, torch.Tensor]:
    """The outputs of a copy of a model, by path."""
    torch.manual_seed(0)
    result = copy.deepcopy(model)(*(arg.clone() for arg in args))
    return {path or "output": tensor.detach().clone() for path, tensor in _named_outputs(result, "")}


def _named_outputs(result, path):
    if isinstance(result, torch.Tensor):
        yield path, result
    elif isinstance(result, dict) or hasattr(result, "_asdict"):
        for key, item in (result if isinstance(result, dict) else result._asdict()).items():
            yield from _named_outputs(item, f"{path}.{key}" if path else key)
    elif isinstance(result, list | tuple):
        for i, item in enumerate(result):
            yield from _named_outputs(item, f"{path}[{i}]")


def depends(model, args) -> set[tuple[str, str]]:
    """Pairs of an input and an output that changes with it."""
    before = outputs(model, args)
    found = set()
    for i, arg in enumerate(args):
        for trial in range(_TRIALS):
            noise = torch.randn(arg.shape, generator=torch.Generator().manual_seed(trial))
            after = outputs(model, [arg + 0.37 * noise if i == j else other for j, other in enumerate(args)])
            changed = {path for path in before if not torch.equal(before[path], after[path])}
            found |= {(f"args[{i}]", path) for path in changed}
    return found


def connected(graph: Graph) -> set[tuple[str, str]]:
    """Pairs of an input and an output with a path for data between them."""
    names = {node.id: node.name for node in graph.nodes if isinstance(node, OutputNode)}
    found = set()
    for node in graph.nodes:
        if isinstance(node, InputNode):
            pending, reached = [node.id], set()
            while pending:
                node_id = pending.pop()
                reached.add(node_id)
                edges = graph.adjacency.get(node_id, ())
                pending += [edge.to for edge in edges if edge.flow != "shape" and edge.to not in reached]
            found |= {(node.name, names[key]) for key in reached & names.keys()}
    return found
