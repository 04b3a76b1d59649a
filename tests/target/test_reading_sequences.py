"""What positions, gaps of time, states, columns and tables of the model's own tell of inputs."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from modeldiagrams.target.inference.constructor import solved_arguments
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


class Columns(nn.Module):
    """Ids in columns, and a sum along the features of their rows."""

    def __init__(self):
        super().__init__()
        self.users, self.films, self.bias = nn.Embedding(50, 8), nn.Embedding(60, 8), nn.Embedding(60, 1)

    def forward(self, x):
        user, film = x[:, 0], x[:, 1]
        return (self.users(user) * self.films(film)).sum(dim=1, keepdim=True) + self.bias(film)


class Graph(nn.Module):
    """Rows of a matrix that is learnt, for triples and for several others of each."""

    def __init__(self, n_ent, n_rel, dim):
        super().__init__()
        self.ent = nn.Parameter(torch.empty(n_ent, dim).uniform_(-1, 1))
        self.rel = nn.Parameter(torch.empty(n_rel, dim).uniform_(-1, 1))
        self.steps = nn.Parameter(torch.zeros(3, dim))

    def forward(self, triples, others):
        head = self.ent[triples[:, 0]].unsqueeze(1)
        return (head + self.rel[triples[:, 1]].unsqueeze(1) - self.ent[others]).norm(dim=-1)


class Layers(nn.Module):
    """Rows of a matrix that a loop counts, and no input chooses."""

    def __init__(self, n_step, dim):
        super().__init__()
        self.n_step = n_step
        self.steps = nn.Parameter(torch.zeros(n_step, dim))

    def forward(self, x):
        for step in range(self.n_step):
            x = x + self.steps[step]
        return x


def test_a_column_of_ids_has_one_for_each_row():
    assert len(first_entries(Columns())["x"]["shape"]) == 2


def test_ids_of_a_matrix_may_have_any_rank():
    entries = first_entries(Graph(100, 10, 8))
    assert [len(entries[name]["shape"]) for name in ("triples", "others")] == [2, 2]
    assert entries["others"]["high"] == 100


def test_rows_that_ids_choose_are_as_many_as_those_of_an_embedding():
    solved = solved_arguments(Graph)
    assert solved is not None
    assert (solved.kwargs["n_ent"], solved.kwargs["n_rel"]) == (100, 100)
    assert solved.reasons["n_ent"] == "a parameter has as many rows, of which forward takes some by ids"
    counted = solved_arguments(Layers)
    assert counted is not None
    assert counted.kwargs["n_step"] < 100
