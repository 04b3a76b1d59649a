"""An oracle for edges that knows nothing of tracing: change an input, run again, see which outputs change."""

from __future__ import annotations

import copy

import torch

from modeldiagrams.graph import Graph, InputNode, OutputNode

_TRIALS = 2


def outputs(model, args) -> dict[str, torch.Tensor]:
    """What a copy of a model returns, by place."""
    torch.manual_seed(0)
    result = copy.deepcopy(model)(*(arg.clone() for arg in args))
    return {place or "output": tensor.detach().clone() for place, tensor in _places(result, "")}


def _places(result, place):
    if isinstance(result, torch.Tensor):
        yield place, result
    elif isinstance(result, dict) or hasattr(result, "_asdict"):
        for key, item in (result if isinstance(result, dict) else result._asdict()).items():
            yield from _places(item, f"{place}.{key}" if place else key)
    elif isinstance(result, list | tuple):
        for i, item in enumerate(result):
            yield from _places(item, f"{place}[{i}]")


def depends(model, args) -> set[tuple[str, str]]:
    """Pairs of an input and an output that changes with it."""
    before = outputs(model, args)
    found = set()
    for i, arg in enumerate(args):
        for trial in range(_TRIALS):
            noise = torch.randn(arg.shape, generator=torch.Generator().manual_seed(trial))
            after = outputs(model, [arg + 0.37 * noise if i == j else other for j, other in enumerate(args)])
            changed = {place for place in before if not torch.equal(before[place], after[place])}
            found |= {(f"args[{i}]", place) for place in changed}
    return found


def connected(graph: Graph) -> set[tuple[str, str]]:
    """Pairs of an input and an output with a way for data from the one to the other."""
    names = {node.id: node.name for node in graph.nodes if isinstance(node, OutputNode)}
    found = set()
    for node in graph.nodes:
        if isinstance(node, InputNode):
            pending, reached = [node.id], set()
            while pending:
                here = pending.pop()
                reached.add(here)
                edges = graph.adjacency.get(here, ())
                pending += [edge.to for edge in edges if edge.flow != "shape" and edge.to not in reached]
            found |= {(node.name, names[key]) for key in reached & names.keys()}
    return found
