"""Ranges of NVTX are groups, on machines without CUDA, too."""

from __future__ import annotations

import contextlib

import torch
from torch import nn
from torch.cuda import nvtx
from torch.cuda.nvtx import range_pop, range_push

from modeldiagrams import trace

BINDING = nvtx._nvtx
X = torch.ones(2, 4)


class Ranges(nn.Module):
    def forward(self, x):
        range_push("rotary embedding")
        x = x.sin() * x.cos() + x
        range_pop()
        with nvtx.range("scale {}", 3):
            x = (x * 3).exp().log()
        nvtx.mark("done")
        return x.relu()


def test_ranges_are_groups():
    graph = trace(Ranges(), (X,))
    assert graph.status.error is None
    assert [call.name for call in graph.functions.values()] == ["rotary embedding", "scale 3"]
    groups = {node.name.rpartition(".")[2]: node.scope for node in graph.nodes if node.kind == "op"}
    first, second = graph.functions
    assert {name: groups[name] for name in ("sin", "add", "exp", "relu")} == {
        "sin": first,
        "add": first,
        "exp": second,
        "relu": None,
    }
    assert graph.functions[first].function is None


def test_ranges_that_do_not_match_end_with_the_module():
    class Unbalanced(nn.Module):
        def forward(self, x):
            range_pop()
            range_push("never ended")
            with contextlib.suppress(ValueError), nvtx.range("fails"):
                x = x.sin().cos()
                raise ValueError
            return x.exp()

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Unbalanced()

        def forward(self, x):
            return self.inner(x).tanh() + x

    graph = trace(Outer(), (X,))
    assert graph.status.error is None
    ops = {node.id: node.scope for node in graph.nodes if node.kind == "op"}
    assert ops["/tanh"] is None


def test_the_binding_is_put_back():
    trace(Ranges(), (X,))
    assert nvtx._nvtx is BINDING
