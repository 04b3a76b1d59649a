"""Models that are very long, very deep or endless."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
from torch import nn

from modeldiagrams.ir import serialize
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
