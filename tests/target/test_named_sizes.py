"""Inputs that a model runs with in several ways are as their names and the constructor's arguments say."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.target import resolve
from modeldiagrams.target.inference.constructor_sizes import constructor_sides, preferring_sizes
from modeldiagrams.target.inference.named_sizes import with_named_sizes


class Critic(nn.Module):
    """Only the sum of two widths is known to a layer."""

    def __init__(self, obs_dim=12, act_dim=4):
        super().__init__()
        self.fc = nn.Linear(obs_dim + act_dim, 1)

    def forward(self, obs, act):
        return self.fc(torch.cat([obs, act], -1))


class Dynamics(nn.Module):
    """Of three inputs in two structures, one goes by the name of an argument, another only has its number."""

    def __init__(self, action_size=6, deter=20, stoch=14):
        super().__init__()
        self.cell = nn.GRUCell(stoch + action_size, deter)

    def forward(self, action, state):
        h, z = state
        return self.cell(torch.cat([z, action], -1), h)


class Traffic(nn.Module):
    """Any number of columns would do that as many sensors have."""

    def __init__(self, num_nodes=9):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(2, 4, (1, 3)), nn.BatchNorm2d(num_nodes)

    def forward(self, x, adj):
        x = self.conv(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return self.norm(torch.einsum("ij,bjtc->bitc", adj, x))


class Screen(nn.Module):
    """Channels last, and sides that many products would suit."""

    def __init__(self, height=40, width=56):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 5, stride=2)
        self.fc = nn.Linear(8 * ((height - 5) // 2 + 1) * ((width - 5) // 2 + 1), 6)

    def forward(self, screen):
        return self.fc(self.conv(screen.permute(0, 3, 1, 2)).flatten(1))


class Forecast(nn.Module):
    """The same places as a picture without and with levels."""

    def __init__(self):
        super().__init__()
        self.surface, self.air = nn.Conv2d(1, 4, 4, 4), nn.Conv3d(1, 4, (1, 4, 4), (1, 4, 4))

    def forward(self, surface, air):
        return self.surface(surface[:, None]) + self.air(air[:, None]).mean(2)


class Recogniser(nn.Module):
    """An LSTM takes a packed sequence of any width, and reads past its weights."""

    def __init__(self, n_mels=24):
        super().__init__()
        self.rnn, self.out = nn.LSTM(n_mels, 8, batch_first=True), nn.Linear(8, 3)

    def forward(self, features, feature_lengths):
        packed = pack_padded_sequence(features.transpose(1, 2), feature_lengths, True, enforce_sorted=False)
        return self.out(self.rnn(packed)[1][0])


def inputs_of(class_):
    target = resolve(parse_options({"model": f"{__name__}.{class_.__name__}"}).call)
    assert target.note is None
    return {name: shape_of(value) for name, value in target.kwargs.items()}


def shape_of(value):
    return [*map(shape_of, value)] if isinstance(value, list | tuple) else tuple(value.shape)


@pytest.mark.parametrize(
    ("class_", "inputs"),
    [
        (Critic, {"obs": (1, 12), "act": (1, 4)}),
        (Dynamics, {"action": (1, 6), "state": [(1, 20), (1, 14)]}),
        (Traffic, {"x": (8, 9, 32, 2), "adj": (9, 9)}),
        (Screen, {"screen": (1, 40, 56, 3)}),
        (Forecast, {"surface": (1, 32, 32), "air": (1, 32, 32, 32)}),
        (Recogniser, {"features": (1, 24, 16), "feature_lengths": (1,)}),
    ],
)
def test_sizes_are_those_that_were_meant(class_, inputs):
    assert inputs_of(class_) == inputs


def test_names_that_are_right_already_change_nothing():
    with preferring_sizes({"obs_dim": 12, "image_size": 64, "hidden": 5}):
        assert not [*with_named_sizes({"obs": [1, 12], "image": [1, 3, 32, 32], "x": [1, 4]})]


@pytest.mark.parametrize(
    ("arguments", "sides"),
    [
        ({"height": 48, "width": 64}, (48, 64)),
        ({"img_h": 24, "img_w": 32}, (24, 32)),
        ({"height": 48}, None),
        ({"h": 2, "w": 4}, None),
    ],
)
def test_height_and_width_may_be_two_arguments(arguments, sides):
    with preferring_sizes(arguments):
        assert constructor_sides()[:1] == ([sides] if sides else [])


def test_length_by_the_argument_that_says_it():
    entries = {"x": [7, 44, 13]}
    with preferring_sizes({"seq_len": 96, "cut": 20}):
        assert next(iter(with_named_sizes(entries))) == {"x": [7, 96, 13]}
        assert [*with_named_sizes({"x": [7, 13, 13]})] == []
