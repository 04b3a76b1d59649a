"""Models that are very long, very deep or endless."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
import torch
from torch import nn

from modeldiagrams.ir import serialize
from modeldiagrams.ir.cases import project_case, unite_cases
from modeldiagrams.tracer import trace
from tracer.traced_graph import Lambda, linear, x


def test_chain_of_20000_ops():
    def forward(_self, h):
        for _ in range(20_000):
            h = h + 1
        return h

    graph = trace(Lambda(forward), (x(),), mode="real")
    assert graph.status.error is None
    assert len(serialize.deserialize(serialize.serialize(graph)).nodes) == 20_002


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_what_runs_plainly_is_not_too_deep_for_a_trace(mode):
    model = linear()
    for _ in range(200):
        model = nn.Sequential(model)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        model(x())
        graph = trace(model, (x(),), mode=mode)
        assert sys.getrecursionlimit() == 1000
    finally:
        sys.setrecursionlimit(limit)
    assert graph.status.error is None
    assert len(graph.nodes) == 203


class Tree(nn.Module):
    """Calls itself for each of its branches, as tree-structured networks do."""

    def __init__(self):
        super().__init__()
        self.leaf, self.join = nn.Linear(4, 4), nn.Linear(8, 4)

    def forward(self, h, tree):
        return self.join(torch.cat([self(h, branch) for branch in tree], -1)) if tree else self.leaf(h)


def test_deep_recursion_has_short_ids_also_as_a_case():
    trees = [()]
    for _ in range(30):
        trees.append((trees[-1], ()))
    model = Lambda(lambda self, h, tree: self.tree(h, tree), tree=Tree())
    graphs = {str(depth): trace(model, (x(), trees[depth])) for depth in (5, 30)}
    united = serialize.deserialize(serialize.serialize(unite_cases(graphs)))
    assert all(graph.status.error is None for graph in graphs.values())
    assert sum(node.kind == "module" and node.path == "tree" for node in united.nodes) < 2 * 31 + 5
    assert max(len(node.id) for node in united.nodes) < 30
    for depth, graph in graphs.items():
        assert serialize.serialize(project_case(united, depth)) == serialize.serialize(graph)


def test_modules_too_deep_for_python_are_the_models_failure():
    model = linear()
    for _ in range(1500):
        model = nn.Sequential(model)
    graph = trace(model, (x(),), mode="real")
    assert graph.status.error.type == "RecursionError"


def test_endless_recursion_where_the_program_allows_many_frames_ends_no_process():
    script = textwrap.dedent("""
        import sys, torch
        from modeldiagrams.tracer import trace

        class Endless(torch.nn.Module):
            def forward(self, h):
                return self(h)

        sys.setrecursionlimit(10_000)
        print(trace(Endless(), (torch.ones(1),), mode="real").status.error.type)
    """)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, "RecursionError")


def test_endless_recursion_tells_its_innermost_frames():
    def forward(h):
        return forward(h + 1)

    error = trace(forward, (x(),), mode="real").status.error
    assert error.type == "RecursionError"
    assert len(error.frames) == 64
