"""Gradients, copies and tensors of inference mode."""

import copy

import pytest
import torch

from modeldiagrams.tracer import trace
from tracer.traced_graph import Lambda, TracedGraph, checked, linear, x


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_gradient_comes_from_where_it_was_computed(mode):
    def forward(_model, h, other):
        with torch.enable_grad():
            h = h.detach().requires_grad_()
            doubled = h * 2
            doubled.register_hook(lambda grad: grad * other)
            doubled.sum().backward()
        return h.grad.sin()

    found = TracedGraph(trace(Lambda(forward), (x(), x()), mode=mode))
    assert found.graph.status.unseen == ()
    assert "output:output" in found.reached(["input:args[1]"])
    assert not found.edges("detach", "grad")


def test_shallow_copy_shares_memory():
    found = checked(Lambda(lambda self, h: copy.copy(self.a(h)).sin(), a=linear()), x())
    assert found.flows("linear", "sin")


@pytest.mark.parametrize("mode", ["auto", "real"])
def test_inference_mode_inside_the_forward_is_recorded(mode):
    def forward(self, h, other):
        with torch.inference_mode():
            h = self.a(h) * 2
            h[0] = other[0]
        return h

    found = checked(Lambda(forward, a=linear()), x(), x(), mode=mode)
    assert found.graph.status.mode == {"auto": "fake", "real": "real"}[mode]
