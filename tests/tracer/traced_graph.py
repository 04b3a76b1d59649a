"""Small models, traced and checked, and queries on their graphs."""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import nn

from modeldiagrams.ir import serialize
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import Graph, InputNode, ModuleNode, OpNode, OutputNode
from modeldiagrams.tracer import trace


class Lambda(nn.Module):
    """A model whose forward is a function of the model and its inputs."""

    def __init__(self, function, **modules):
        super().__init__()
        self._function = [function]
        for name, module in modules.items():
            setattr(self, name, module)

    def forward(self, *args, **kwargs):
        return self._function[0](self, *args, **kwargs)


class DoubleInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, given):
        given.mul_(2)
        ctx.mark_dirty(given)
        return given

    @staticmethod
    def backward(_ctx, grad):
        return grad * 2


def linear():
    return nn.Linear(4, 4)


def x():
    return torch.randn(3, 4, generator=torch.Generator().manual_seed(1))


class TracedGraph:
    """A graph with queries. Ops are named by their short name: ``linear``, ``add``."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.nodes = {node.id: node for node in graph.nodes}
        self.ops = defaultdict(list)
        for node in graph.nodes:
            if isinstance(node, OpNode):
                self.ops[node.name.rpartition(".")[2].rpartition("::")[2].strip("_")].append(node)
        self.calls = [node for node in graph.nodes if isinstance(node, ModuleNode)]

    def edges(self, source: str, target: str):
        """Edges from any op of one name to any op of another."""
        targets = {node.id for node in self.ops[target]}
        return [e for node in self.ops[source] for e in self.graph.adjacency.get(node.id, ()) if e.to in targets]

    def flows(self, source: str, target: str) -> bool:
        """Whether there is a path from an op of one name to an op of another."""
        reached = self.reached(edge.to for node in self.ops[source] for edge in self.graph.adjacency.get(node.id, ()))
        return any(node.id in reached for node in self.ops[target])

    def reached(self, start) -> set[str]:
        pending, reached = list(start), set()
        while pending:
            node = pending.pop()
            if node not in reached:
                reached.add(node)
                pending += [edge.to for edge in self.graph.adjacency.get(node, ())]
        return reached

    def of(self, kind) -> list:
        return [node for node in self.graph.nodes if isinstance(node, kind)]


def traced(model, *args, mode="real", **kwargs) -> TracedGraph:
    """Trace a model that must not fail."""
    graph = trace(model, args, kwargs, mode=mode)
    check_graph(graph)
    assert graph.status.error is None, graph.status.error
    assert graph.status.unseen == (), graph.status.unseen
    return TracedGraph(graph)


def checked(model, *args, mode="real", **kwargs) -> TracedGraph:
    """As `traced`; check that every output depends on an input, every input is used, and a second trace is equal."""
    found = traced(model, *args, mode=mode, **kwargs)
    assert serialize.serialize(trace(model, args, kwargs, mode=mode)) == serialize.serialize(found.graph)
    outputs = {node.id for node in found.of(OutputNode)}
    assert outputs
    reached = [found.reached([node.id]) & outputs for node in found.of(InputNode)]
    assert all(reached)
    assert set().union(*reached) == outputs
    return found


def names(nodes) -> list[str]:
    return [node.name for node in nodes]
