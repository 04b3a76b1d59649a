"""What positions, gaps of time, states and tables of the model's own tell of sequences."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from modeldiagrams.target.inference.defects import oddness
from target.found_inputs import first_entries


class Clicks(nn.Module):
    """Ids with positions of as many steps, and numbers of which a logarithm is taken."""

    def __init__(self):
        super().__init__()
        self.table, self.kinds, self.places = nn.Embedding(50, 8), nn.Embedding(5, 8), nn.Embedding(64, 8)
        self.gap = nn.Linear(1, 8)
        self.block = nn.TransformerEncoderLayer(8, 2, 8, batch_first=True)

    def forward(self, clicked, kind, pause):
        steps = clicked.size(1)
        x = self.table(clicked) + self.kinds(kind) + self.places(torch.arange(steps, device=clicked.device))
        return self.block(x + self.gap(torch.log1p(pause.clamp(min=0)).unsqueeze(-1)))


def test_steps_of_positions_are_those_of_all_that_is_added():
    entries = first_entries(Clicks())
    rows, steps = entries["clicked"]["shape"]
    assert entries["kind"]["shape"] == [rows, steps]
    assert entries["pause"] == [rows, steps], "logarithms are taken of numbers that aren't whole"


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_state_of_layers_is_not_odd(layers):
    entries = {"x": [1, 16, 8], "state": [[layers, 1, 8], [layers, 1, 8]]}
    assert oddness(entries, lambda _: False) == 0


def test_pairs_of_nodes_are_odd_where_there_is_one():
    assert oddness({"edges": {"shape": [2, 1], "dtype": "int64"}}, lambda _: False) == 1
