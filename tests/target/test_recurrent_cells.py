"""Classes of recurrent layers, told by how forward calls what a constructor makes of its argument."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from modeldiagrams.target.inference.constructor import solved_arguments


class Regions(nn.Module):
    """Beside the models, and called with two tensors, too; it takes no state."""

    def __init__(self, size, width):
        super().__init__()
        self.layer = nn.Linear(size + 4, width)

    def forward(self, regions, boxes):
        return self.layer(torch.cat([regions, boxes], -1))


class Agent(nn.Module):
    def __init__(self, size, width, core_cls):
        super().__init__()
        self.core = core_cls(size, width)

    def forward(self, obs, hidden, kept):
        hidden = self.core(obs, hidden * kept.unsqueeze(-1))
        return hidden.sum(-1), hidden


class Stacked(nn.Module):
    def __init__(self, size, depth, unit):
        super().__init__()
        self.units = nn.ModuleList([unit(size, size) for _ in range(depth)])

    def forward(self, x, states):
        after = []
        for unit, state in zip(self.units, states, strict=True):
            h, c = state
            h, c = unit(x, (h, c))
            after.append((h, c))
            x = h
        return x, after


class Sequences(nn.Module):
    def __init__(self, size, width, layer):
        super().__init__()
        self.memory = layer(size, width)

    def forward(self, x, state):
        y, state = self.memory(x, state)
        return y, state


class Fused(nn.Module):
    """What it makes is given two tensors, and no state."""

    def __init__(self, size, width, regions_cls):
        super().__init__()
        self.fuse = regions_cls(size, width)

    def forward(self, x, boxes):
        return self.fuse(x, boxes)


@pytest.mark.parametrize(
    ("model", "name", "layer"),
    [
        (Agent, "core_cls", "torch.nn.GRUCell"),
        (Stacked, "unit", "torch.nn.LSTMCell"),
        (Sequences, "layer", "torch.nn.GRU"),
        (Fused, "regions_cls", f"{__name__}.Regions"),
    ],
)
def test_what_is_given_a_state_and_gives_the_next_one_is_a_recurrent_layer(model, name, layer):
    solved = solved_arguments(model)
    assert solved is not None
    assert solved.kwargs[name] == {"_object_": layer}
