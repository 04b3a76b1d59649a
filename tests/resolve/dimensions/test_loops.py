"""Loops that run more often at other sizes, and passes that are special: a fresh pass is the oracle."""

import pytest
import torch
from torch import nn

from modeldiagrams import trace
from modeldiagrams.ir.size_costs import costs_at


class Recurrent(nn.Module):
    """A cell that a loop over time calls."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)

    def forward(self, x):
        state, states = x.new_zeros(x.shape[0], 4), []
        for i in range(x.shape[1]):
            state = self.cell(x[:, i], state)
            states.append(state)
        return torch.stack(states, 1)


class StartsItself(Recurrent):
    """A loop whose first round alone makes a state."""

    def forward(self, x):
        state = None
        for i in range(x.shape[1]):
            state = self.cell(x[:, i], state)
        return state


class Growing(nn.Module):
    """A loop in which each round makes a larger tensor."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        seen = x[:, :0]
        for i in range(x.shape[1]):
            seen = torch.cat([seen, self.layer(x[:, i : i + 1])], 1)
        return seen


class Halving(nn.Module):
    """A loop with as many rounds as the logarithm of a size."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        while x.shape[1] > 1:
            x = self.layer(x[:, ::2])
        return x


class SingleIsSpecial(nn.Module):
    """Expands positions for each item of a batch, if it has several."""

    def __init__(self):
        super().__init__()
        self.layer, self.places = nn.Linear(4, 4), nn.Embedding(64, 4)

    def forward(self, x):
        places = torch.arange(x.shape[1])[None]
        if x.shape[0] > 1:
            places = places.expand(x.shape[0], -1)
        return self.layer(x + self.places(places)).expand(-1, -1, -1)


def make(b, t):
    return torch.randn(b, t, 4)


@pytest.mark.parametrize("model", [Recurrent(), SingleIsSpecial()], ids=lambda model: type(model).__name__)
def test_costs_at_other_sizes_are_those_of_a_fresh_pass(model):
    graph = trace(model, (make(1, 8),), dims="auto")
    assert not any(size.fixed for size in graph.sizes.sizes.values())
    for sizes in ({"B": 3, "T": 11}, {"B": 5, "T": 30}):
        fresh = trace(model, (make(*sizes.values()),)).model
        found = costs_at(graph, sizes)[None]
        assert (found.flops.amount, found.activation_bytes.amount) == (fresh.flops, fresh.activation_bytes)


@pytest.mark.parametrize("model", [Growing(), StartsItself()], ids=lambda model: type(model).__name__)
def test_rounds_that_differ_are_no_part_of_sums_which_say_so(model):
    graph = trace(model, (make(1, 8),), dims="auto")
    found, fresh = costs_at(graph, {"T": 11})[None], trace(model, (make(1, 11),)).model
    assert found.flops.amount == fresh.flops
    assert found.activation_bytes.sign == "≥"
    assert found.activation_bytes.amount <= fresh.activation_bytes


def test_rounds_without_an_expression_pin_the_size():
    sizes = trace(Halving(), (make(1, 16),), dims="auto").sizes
    assert "runs more often" in sizes.sizes["T"].fixed
    assert not sizes.sizes["B"].fixed
    assert not sizes.times
