"""What a reading tells of maps: lists of several sizes, and noise that a map is made of."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from modeldiagrams.target.inference.input_solver import InputSolver
from modeldiagrams.target.inference.vocabulary import number_values
from target.found_inputs import first_entries


class Decoder(nn.Module):
    """Maps that are read from the smallest to the largest one, by number and from the end."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(6 + 6, 6, 3) for _ in range(2))
        self.pad, self.first, self.up = nn.ReflectionPad2d(1), nn.Conv2d(6, 6, 3), nn.Upsample(scale_factor=2)

    def forward(self, features):
        x = self.first(self.pad(features[-1]))
        for i in (1, 0):
            x = functional.interpolate(x, scale_factor=2) if i else self.up(x)
            x = self.convs[i](self.pad(torch.cat([x, features[i]], 1)))
        return x


class Labelled(nn.Module):
    """Noise and a label, of which a view alone says that they are rows."""

    def __init__(self):
        super().__init__()
        self.table, self.rows, self.conv = nn.Embedding(5, 12), nn.Linear(12, 8 * 4 * 4), nn.Conv2d(8, 1, 3)

    def forward(self, noise, labels):
        x = self.rows(self.table(labels) * noise)
        return self.conv(x.view(x.shape[0], 8, 4, 4))


class Critic(nn.Module):
    """A picture that 32 is too small for."""

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 3, 4, 2, 1) for _ in range(4)]
        self.net = nn.Sequential(*layers, nn.Conv2d(3, 1, 4))

    def forward(self, picture):
        return self.net(picture).view(-1, 1).squeeze(1)


def test_items_by_number_that_convolutions_take_are_maps_and_those_made_larger_are_multiples():
    assert first_entries(Decoder()) == {"features": [[7, 6, 36, 40], [7, 6, 18, 20], [7, 6, 9, 10]]}
    solution = next(InputSolver(Decoder()).solutions())
    assert solution.entries == {"features": [[1, 6, 32, 32], [1, 6, 16, 16], [1, 6, 8, 8]]}


def test_dimensions_of_one_item_are_none_that_a_view_tells():
    assert first_entries(Labelled()) == {"noise": [7, 12], "labels": {"shape": [7], "dtype": "int64", "high": 5}}


def test_noise_that_a_map_is_made_of_is_one_pixel():
    generator = nn.Sequential(nn.ConvTranspose2d(12, 8, 4), nn.ReLU(), nn.ConvTranspose2d(8, 3, 4, 2, 1))
    assert first_entries(generator) == {"input": [7, 12, 1, 1]}


def test_a_picture_that_32_is_too_small_for_has_the_next_usual_side():
    assert [1, 3, 64, 64] in [solution.entries["picture"] for solution in InputSolver(Critic()).solutions()]


@pytest.mark.parametrize(
    ("name", "attributes", "value"),
    [
        ("n_emotions", ["out_features"], 10),
        ("num_sensors", ["in_features"], 16),
        ("n_mfcc", ["in_channels"], 40),
        ("max_disp", [], 32),
        ("output_nc", ["out_channels"], 3),
        ("ch_out", ["out_channels"], 8),
        ("n_down", ["out_channels"], 4),
    ],
)
def test_what_is_counted_has_a_usual_number(name, attributes, value):
    assert number_values(name, attributes, is_tested_only=False, is_item=False)[0] == value


def test_widths_of_layers_in_a_list_are_no_numbers_of_layers():
    assert number_values("layers", ["in_features"], is_tested_only=False, is_item=True)[0] == 32


class Listed(nn.Module):
    """A convolution whose options are lists, which keeps the sides."""

    def __init__(self):
        super().__init__()
        self.weight, self.up = nn.Parameter(torch.ones(3, 3, 3, 3)), nn.Parameter(torch.ones(3, 3, 3, 3))

    def forward(self, x, y):
        x = functional.conv_transpose2d(x, self.up, stride=[1, 1], padding=[1])
        return functional.conv2d(x, self.weight, padding=[1, 1]) + y[:, :, :32]


def test_options_of_convolutions_may_be_lists():
    entries = first_entries(Listed())
    assert [len(entries[name]) for name in ("x", "y")] == [4, 4]
    assert [entries[name][1] for name in ("x", "y")] == [3, 3]


class Board(nn.Module):
    """Only how many fields a map has in all is told, and a loop goes as far as another input is long."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(4, 3, 3, padding=1)
        self.value = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 21))

    def forward(self, board, actions):
        state = self.stem(board)
        values = [self.value(state)]
        for at in range(actions.shape[1]):
            state = state + actions[:, at].view(-1, 1, 1, 1)
            values.append(self.value(state))
        return values


def test_sides_of_which_only_the_product_is_told_are_equal():
    assert first_entries(Board())["board"][1:] == [4, 32, 32]


def test_a_dimension_that_no_layer_takes_has_no_width_of_one():
    assert 3 * 32 * 32 not in first_entries(Board())["actions"]
