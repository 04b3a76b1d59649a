"""Sizes that fail are followed to the inputs that they come from, and structures to what their parts are used for."""

from __future__ import annotations

import pytest
import torch
import yaml
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import resolve
from modeldiagrams.resolve.inputs.budget import Budget
from modeldiagrams.resolve.inputs.failure_search import FailureSearch
from modeldiagrams.resolve.inputs.sizes import Sizes


def solved(model):
    return next(FailureSearch(model.eval(), Budget()).solutions()).entries


def target_of(path):
    return resolve(parse_options({"model": path}).call)


class Unrolled(nn.Module):
    """Features of a step that would be those of the batch if an input lacked a dimension."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(12 + 5, 9)

    def forward(self, seen, done):
        h = seen.new_zeros(seen.shape[0], 9)
        for step in range(seen.shape[1]):
            h = self.cell(torch.cat([seen[:, step], done.new_ones(done.shape[0], 5)], 1), h * done[:, step, None])
        return h


class Graph(nn.Module):
    """Rows of one input are columns of another."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(16, 5))

    def forward(self, nodes, links):
        return torch.mm(links, torch.mm(nodes, self.weight))


class Pictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, images: list[torch.Tensor]):
        return self.conv(torch.stack(images))


class Whole(nn.Module):
    """A convolution as large as the map: the product of both sides is what a layer wants."""

    def __init__(self):
        super().__init__()
        self.conv, self.last = nn.Conv2d(3, 4, 3, 8, 1), nn.Conv2d(4, 8, 15)
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(self.last(self.conv(x)).flatten(1))


class Flat(nn.Module):
    """Steps, rows, and in one dimension all nodes with what each of them has, which only a view tells apart."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2 + 3, 4)

    def forward(self, steps):
        rows = [each.reshape(each.shape[0], 9, -1) for each in steps]
        return torch.stack([self.layer(torch.cat((x, x.new_zeros(x.shape[0], 9, 3)), -1)) for x in rows])


class Triple(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.rnn = nn.Embedding(30, 8), nn.GRU(8, 8, batch_first=True)
        self.look = nn.Linear(6, 8)

    def forward(self, inputs):
        picture, words, lengths = inputs
        hidden, _ = self.rnn(self.words(words))
        return hidden[torch.arange(hidden.shape[0]), lengths - 1] + self.look(picture)


@pytest.mark.parametrize(
    ("model", "entries"),
    [
        (Unrolled(), {"seen": [1, 16, 12], "done": [1, 16]}),
        (Graph(), {"nodes": [1, 16], "links": [1, 1]}),
        (Pictures(), {"images": [[3, 32, 32], [3, 32, 32]]}),
        (Whole(), {"x": [1, 3, 120, 120]}),
        (Flat(), {"steps": [1, 16, 18]}),
    ],
)
def test_failing_sizes_are_followed_to_the_inputs_that_they_come_from(model, entries):
    found = solved(model)
    assert {name: found[name] for name in entries} == entries


def test_parts_are_guessed_by_the_names_that_they_get():
    picture, words, lengths = solved(Triple())["inputs"]
    assert picture[-1] == 6
    assert words["dtype"] == lengths["dtype"] == "int64"


class Moments(nn.Module):
    """Fake tensors would take whole numbers for the times, too."""

    def __init__(self):
        super().__init__()
        self.kinds = nn.Embedding(20, 8)
        self.times = nn.Linear(1, 8)

    def forward(self, moments, kinds):
        return self.times(moments.unsqueeze(-1)) + self.kinds(kinds)


def test_whole_numbers_go_only_where_kernels_take_them():
    said = {item.subject: yaml.safe_load(item.value) for item in target_of(f"{__name__}.Moments").assumptions}
    assert isinstance(said["inputs.moments"], list)
    assert said["inputs.kinds"]["dtype"] == "int64"


class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.late, self.head = nn.LazyLinear(12), nn.Linear(12 + 4, 3)

    def forward(self, x, extra):
        return self.head(torch.cat([self.late(x), extra], 1))


def test_lazy_layers_take_their_sizes_from_every_pass_anew():
    model = Lazy()
    assert solved(model)["extra"] == [1, 4]
    assert nn.parameter.is_lazy(model.late.weight)


class Doubled(nn.Module):
    """Only even sides fit."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 8, 3, 2, 1), nn.ConvTranspose2d(8, 3, 2, 2)

    def forward(self, x):
        return self.up(self.down(x)) + x


def test_inputs_that_would_be_large_get_smaller_until_they_are_affordable():
    sizes = Sizes(Doubled())
    entries = {"x": [7, 3, *(sizes.new(("x",), at, is_side=True) for at in (2, 3))]}
    assert sizes.affordable(entries, 1 << 15) == {"x": [7, 3, 32, 33]}


def test_sides_that_fit_by_chance_are_shown_as_usual_ones():
    assert solved(Doubled()) == {"x": [1, 3, 32, 32]}
