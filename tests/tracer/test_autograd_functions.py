"""Modules that run inside an autograd function are connected as autograd connects them when it runs the inside."""

import pytest
import torch
from torch import nn

from modeldiagrams.tracer import trace
from oracle import agreement
from tracer.traced_graph import Lambda, checked, linear, x

SHARED = nn.Linear(4, 4)


class Function(torch.autograd.Function):
    """One whose backward nobody needs here."""

    @staticmethod
    def backward(_ctx, *grads):
        return grads


class Couple(Function):
    """A reversible block."""

    @staticmethod
    def forward(_ctx, a, b, f, g):
        a = a + f(b)
        return a, b + g(a)


class Repeat(Function):
    """As checkpointing written by hand: a function of modules and ops, and its weights."""

    @staticmethod
    def forward(_ctx, run, n, *args):
        with torch.no_grad():
            return run(*args[:n])


class Solve(Function):
    """As adjoint solvers: a module called in a loop, in place."""

    @staticmethod
    def forward(_ctx, state, module, steps):
        states = [state]
        for _ in range(steps):
            states.append(states[-1] + 0.1 * module(states[-1]))
        return torch.stack(states)


class Outer(Function):
    """Another function inside, and a module from nowhere in the arguments."""

    @staticmethod
    def forward(_ctx, h, f, g, apply):
        a, b = apply(Couple, h, SHARED(h), f, g)
        return apply(Solve, a, f, 1).sum(0) + b


class Keeps(Function):
    """Saves what a module made, for a later call."""

    @staticmethod
    def forward(_ctx, h, f, kept):
        kept.append(f(h))
        return h * 2


class Net(nn.Module):
    def __init__(self, forward):
        super().__init__()
        self.is_open = False
        self._forward = [forward]
        self.f, self.g, self.last = linear(), linear(), linear()
        self.block = nn.Sequential(linear(), nn.ReLU(), linear())
        self.shared = SHARED

    def apply_function(self, function, *args):
        return function.forward(None, *args) if self.is_open else function.apply(*args)

    def forward(self, h):
        return self.last(self._forward[0](self, h))


def couple(self, h):
    return sum(self.apply_function(Couple, *self.apply_function(Couple, h, self.f(h), self.f, self.g), self.g, self.f))


def repeat(self, h):
    h = self.apply_function(Repeat, lambda h: h + self.block(h).sin(), 1, h, *self.block.parameters())
    return self.apply_function(Repeat, self.f, 1, h.cos(), *self.f.parameters())


def solve(self, h):
    return self.apply_function(Solve, self.g(h), self.f, 3).mean(0)


def nest(self, h):
    return self.apply_function(Outer, h, self.f, self.g, self.apply_function)


def keep(self, h):
    kept = []
    return self.apply_function(Keeps, self.g(h), self.f, kept) + self.block(kept[0])


def define(self, h):
    class Local(Function):
        @staticmethod
        def forward(_ctx, h, f):
            return f(h) * 2

    return self.apply_function(Local, self.f(h), self.g)


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("forward", [couple, repeat, solve, nest, keep, define])
def test_edges_are_those_that_autograd_sees_inside(forward, mode):
    model = Net(forward)
    found = checked(model, x(), mode=mode)
    assert not [node for node in found.graph.nodes if node.kind == "op" and node.opaque]
    model.is_open = True
    open_graph = trace(model, (x(),), mode=mode)
    assert [call.id for call in open_graph.module_calls()] == [call.id for call in found.calls]
    assert found.graph.model.flops == open_graph.model.flops
    for module in model.modules():
        if isinstance(module, nn.ReLU):
            module.forward = torch.nn.functional.softplus  # whose gradients are nowhere zero
    without_no_grad(model)
    result = agreement(found.graph, model, {"h": x().requires_grad_()})
    assert (result.recall, result.precision) == (1.0, 1.0), result
    assert result.witnessed >= 2


def without_no_grad(model):
    """Let autograd see through what checkpointing hides."""
    is_open = model.apply_function

    def apply_function(function, *args):
        return args[0](*args[2 : 2 + args[1]]) if function is Repeat else is_open(function, *args)

    model.apply_function = apply_function


def test_functions_that_call_no_modules_stay_one_op():
    class Cube(Function):
        @staticmethod
        def forward(_ctx, h):
            return h * h * h

    def forward(self, h):
        return Cube.apply(Couple.apply(h, h, self.a, self.a)[1])

    found = checked(Lambda(forward, a=linear()), x())
    assert [node.name for node in found.graph.nodes if node.kind == "op" and node.opaque] == ["Cube"]


def test_error_inside_names_the_module():
    def forward(self, h):
        return Couple.apply(h, h, self.a, self.b)

    graph = trace(Lambda(forward, a=linear(), b=nn.Linear(5, 5)), (x(),))
    assert graph.status.error.node == "b/linear"
    assert graph.between("input:args[0]", "a/linear")
