"""Of several inputs that a model runs with, those that a person would choose."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from modeldiagrams.target.inference.entries import Leaf
from modeldiagrams.target.inference.sizes import Sizes
from target.found_inputs import found


class Rays(nn.Module):
    """Columns by slices, whose end the forward tells, and a layer that is as wide as something else."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(27, 16)

    def forward(self, rays):
        start, way, near = rays[:, :3][:, None], rays[:, 3:6][:, None], rays[:, 6:8]
        depth = near[:, :1] + near[:, 1:] * torch.linspace(0, 1, 9)
        return self.inner((start + way * depth[..., None]).flatten(1))


def test_an_input_is_as_wide_as_what_is_cut_out_of_it():
    assert found(Rays)["rays"] == [1, 8]


class Cameras(nn.Module):
    """A number for each picture, which runs as another picture, too, but only for one row."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, left, focal):
        depth = self.conv(left).mean(1)
        return focal.view(-1, 1, 1)[: 1 if len(depth) == 1 else None] / (depth.abs() + 1)


def test_inputs_run_with_several_rows():
    assert found(Cameras)["focal"] == [1]


def test_a_clip_has_few_frames():
    sizes = Sizes(nn.Linear(2, 2))
    film = sizes.of(Leaf(("film",), (1, 2, 4, 8, 8)))
    assert sizes.usual(film, 1).shape == (1, 8, 8, 32, 32)


class Ranks(nn.Module):
    """Rows of numbers that are gathered by others."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(3, 4)

    def forward(self, positions, neighbors):
        b, n, k = neighbors.shape
        at = neighbors.reshape(b, n * k, 1).expand(-1, -1, 3)
        return self.out(torch.gather(positions, 1, at).view(b, n, k, 3) - positions.unsqueeze(2))


def test_places_in_space_are_no_whole_numbers():
    assert found(Ranks)["positions"] == [1, 16, 3]


class Fields(nn.Module):
    """Ids of several fields in one table, each after those of the fields before."""

    def __init__(self):
        super().__init__()
        self.offsets = np.array([0, 5, 10])
        self.table, self.weights = nn.Embedding(15, 4), nn.Embedding(15, 1)
        self.deep = nn.Linear(12, 1)

    def forward(self, x):
        x = x + x.new_tensor(self.offsets).unsqueeze(0)
        parts = self.table(x)
        pairs = (parts.sum(dim=1) ** 2 - (parts**2).sum(dim=1)).sum(dim=1, keepdim=True)
        return self.weights(x).sum(dim=1) + pairs + self.deep(parts.view(-1, 12))


def test_offsets_tell_how_many_fields_there_are():
    assert found(Fields)["x"]["shape"] == [1, 3]


class Remembered(nn.Module):
    """Rows that the model makes itself are as wide as another argument than the one that takes them."""

    def __init__(self, input_size, output_size):
        super().__init__()
        self.rows = torch.zeros(5, output_size)
        self.rnn = nn.GRU(input_size, 16)

    def forward(self, item):
        return self.rnn(self.rows.scatter(1, item.view(-1, 1), 1).unsqueeze(0))[0]


def test_arguments_by_their_names_change_where_a_layer_does_not_fit():
    assert found(Remembered)["item"]["high"] <= 10
