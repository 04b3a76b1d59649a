"""Signatures: equal for blocks of equal structure, different for others."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.tracer import trace
from tracer.traced_graph import Lambda, linear, x


class Block(Lambda):
    """Always of this class, whatever it does."""


def signature(function, *given, **modules):
    model = Lambda(lambda self, *args: self.block(*args), block=Block(function, **modules))
    graph = trace(model, given or (x(),), mode="real")
    assert graph.status.error is None
    return next(node.signature for node in graph.nodes if isinstance(node, ModuleNode))


def two():
    return {"a": linear(), "b": linear()}


def matrices():
    return {"p": nn.ParameterList([nn.Parameter(torch.ones(4, 4)) for _ in range(2)])}


def reused(_, h):
    k = h + 1
    return k.sin() + k


DIFFERENT = {
    "argument of an op": ((lambda _, h: h + 1), (lambda _, h: h + 2)),
    "whole and broken number": ((lambda _, h: h + 1), (lambda _, h: h + 1.0)),
    "function": ((lambda _, h: h.sin()), (lambda _, h: h.cos())),
    "in place": ((lambda _, h: torch.relu_(h + 1)), (lambda _, h: torch.relu(h + 1))),
    "one more edge": ((lambda _, h: (h + 1).sin() + h), reused),
    "which result of an op": ((lambda _, h: h.chunk(2)[0].sin()), (lambda _, h: h.chunk(2)[1].sin())),
    "weight or value": ((lambda self, h: h @ self.p[0]), (lambda _, h: h @ torch.ones(4, 4)), matrices),
    "one weight twice": (
        (lambda self, h: h @ self.p[0] @ self.p[1]),
        (lambda self, h: h @ self.p[0] @ self.p[0]),
        matrices,
    ),
    "one module twice": ((lambda self, h: self.a(self.b(h))), (lambda self, h: self.a(self.a(h))), two),
    "tied weight": (
        (lambda self, h: F.linear(self.a(h), self.a.weight)),
        (lambda self, h: F.linear(self.a(h), self.b.weight)),
        two,
    ),
    "what is returned": (
        (lambda _, h: (h.sin(), h.cos())[0]),
        (lambda _, h: (h.sin(), h.cos())[1]),
    ),
    "how much is returned": ((lambda _, h: (h.sin(), h.cos())[1]), (lambda _, h: (h.sin(), h.cos()))),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_different_structures_differ(what):
    one, other, *modules = DIFFERENT[what]
    made = modules[0] if modules else dict
    assert signature(one, **made()) == signature(one, **made())
    assert signature(one, **made()) != signature(other, **made())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda _, h, k: h - k, lambda _, h, k: k - h),
        (lambda _, h, k: h.sin() - k.cos(), lambda _, h, k: k.sin() - h.cos()),
        (lambda _, h, k: h + k, lambda _, h, _k: h + h),
    ],
)
def test_signatures_depend_on_argument_order(one, other):
    assert signature(one, x(), x()) != signature(other, x(), x())


def test_signatures_depend_on_dtype_and_shape():
    def doubled(_, h):
        return h * 2

    assert len({signature(doubled, h) for h in (x(), x().double(), x()[:2])}) == 3


def test_signature_ignores_names_values_and_gradients_of_weights():
    frozen = linear().requires_grad_(False)
    assert signature(lambda self, h: self.a(h), a=linear()) == signature(lambda self, h: self.b(h), b=frozen)


def test_signature_ignores_inputs_returned_unchanged():
    """Layers that hand on an ever longer tuple of what was computed before are equal."""
    one = signature(lambda _, h, *before: (h * 2, *before), x(), x())
    assert one == signature(lambda _, h, *before: (h * 2, *before), x(), x(), x())
