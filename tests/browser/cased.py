"""A graph of several cases, for browser tests."""

from __future__ import annotations

import msgspec
import torch
from torch import nn

import modeldiagrams
from modeldiagrams.ir.graph import Case, Failure, Graph, Status


class Heads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Linear(8, 8)
        self.near = nn.Sequential(nn.Linear(8, 4), nn.ReLU())
        self.far = nn.Sequential(nn.Linear(8, 2), nn.Tanh())

    def forward(self, x):
        x = self.stem(x)
        return self.near(x), self.far(x)


def united() -> Graph:
    """One pass through both heads, told as two passes through one each."""
    graph = modeldiagrams.trace(Heads(), (torch.ones(3, 8),))
    outputs = [node.id for node in graph.nodes if node.kind == "output"]
    only = {"near": 0, "far": 1, outputs[0]: 0, outputs[1]: 1}

    def cases_of(node: str) -> tuple[int, ...]:
        found = next(
            (case for name, case in only.items() if node == name or node.startswith((f"{name}.", f"{name}/"))), None
        )
        return () if found is None else (found,)

    replace = msgspec.structs.replace
    wider = {
        name: replace(spec, shape=(7, *spec.shape[1:]))
        for name, spec in graph.tensors.items()
        if name.startswith(("input:x", "stem/"))
    }
    failed = Status(state="partial", error=Failure(type="ValueError", message="no such head"))
    model = graph.model
    return replace(
        graph,
        nodes=tuple(replace(node, cases=cases_of(node.id)) for node in graph.nodes),
        adjacency={
            source: tuple(replace(edge, cases=cases_of(edge.to) or cases_of(source)) for edge in edges)
            for source, edges in graph.adjacency.items()
        },
        cases=(
            Case(name="near", model=model, status=graph.status),
            Case(name="far", model=replace(model, flops=1), status=graph.status, tensors=wider),
            Case(name="lost", model=model, status=failed),
        ),
    )
