"""Values that leave torch and come back: Python numbers, gradients, memory."""

import copy

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from modeldiagrams.tracer import trace
from tracer.seen import Applies, Seen, linear, seen, x

NUMBER_TAKERS = {
    "operator": lambda h, number: h * number,
    "keyword": lambda h, number: h.add(h, alpha=number),
    "in a list": lambda h, number: torch.tensor([2.0, number]) + h[:, :2],
    "full": lambda h, number: torch.full((4,), number) + h,
    "where": lambda h, number: torch.where(h > 0, h, number),
    "module": F.leaky_relu,
}


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("taker", NUMBER_TAKERS)
def test_number_given_on_as_it_is(taker, mode):
    def forward(self, h, other):
        number = self.a(h).abs().max().item()
        other.sum().item()
        return NUMBER_TAKERS[taker](other, number)

    found = seen(Applies(forward, a=linear()), x(), x(), mode=mode)
    (edge,) = found.graph.adjacency["/item"]
    assert edge.flow == "inferred"
    assert "/item#2" not in found.graph.adjacency


@pytest.mark.parametrize("use", [lambda h, _: h * 2.0, lambda h, number: h * (number + 1), lambda h, _: h[:, 1:]])
def test_other_numbers_come_from_nowhere(use):
    """Numbers of the author, computed ones, and whole ones below 257, which are the same object everywhere."""

    def forward(_model, h, counts):
        number, count = h.sum().item(), counts.max().item()
        assert count == 1
        return use(h, number)

    found = Seen(trace(Applies(forward), (x(), torch.ones(2, dtype=torch.int64)), mode="real"))
    assert not {"/item", "/item#2"} & found.graph.adjacency.keys()


def test_number_given_on_in_another_module():
    found = seen(
        Applies(
            lambda self, h: self.b(h, self.a(h)),
            a=Applies(lambda _, h: h.sum().item()),
            b=Applies(lambda _, h, number: h * number),
        ),
        x(),
    )
    assert [edge.to for edge in found.graph.adjacency["a/item"]] == ["b/mul"]


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_list_given_on_as_it_is(mode):
    found = seen(Applies(lambda _self, h, places: h[places.tolist()]), x(), torch.tensor([1, 2]), mode=mode)
    assert [node.id for node in found.graph.nodes[2:-1]] == ["/tolist", "/getitem"]
    assert [(edge.to, edge.argument) for edge in found.graph.adjacency["/tolist"]] == [("/getitem", "key")]


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_gradient_comes_from_where_it_was_computed(mode):
    def forward(_model, h, other):
        with torch.enable_grad():
            h = h.detach().requires_grad_()
            doubled = h * 2
            doubled.register_hook(lambda grad: grad * other)
            doubled.sum().backward()
        return h.grad.sin()

    found = Seen(trace(Applies(forward), (x(), x()), mode=mode))
    assert found.graph.status.unseen == ()
    assert "output:output" in found.reached(["input:args[1]"])
    assert not found.edges("detach", "grad")


def test_copy_looks_into_the_same_memory():
    found = seen(Applies(lambda self, h: copy.copy(self.a(h)).sin(), a=linear()), x())
    assert found.flows("linear", "sin")


@pytest.mark.parametrize("mode", ["auto", "real"])
def test_inference_mode_inside_the_forward(mode):
    def forward(self, h, other):
        with torch.inference_mode():
            h = self.a(h) * 2
            h[0] = other[0]
        return h

    found = seen(Applies(forward, a=linear()), x(), x(), mode=mode)
    assert found.graph.status.mode == {"auto": "fake", "real": "real"}[mode]
